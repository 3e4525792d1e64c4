// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools: kernel, stride, dilation and padding.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// One number per spatial dimension each.
struct Windows {
  /// Reads the attributes of a call whose operand 0 is [N, C, spatial...].
  Windows(Call& call, std::vector<std::int64_t> kernel_size);

  /// Operand 0 with what `padding` cannot say, as it is the same on both sides, put around it.
  ir::NodeId padded(Call& call, double value) const;

  std::vector<std::int64_t> kernel, stride, dilation, padding;
  /// More padding at the beginnings and ends; empty if there is none.
  std::vector<std::int64_t> before, after;
  bool ceil_mode = false;

 private:
  void read_pads(Call& call);
  std::vector<std::int64_t> pads_of_same(Call& call, bool upper) const;
};

}  // namespace mase::onnx
