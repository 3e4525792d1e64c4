// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools: kernel, stride, dilation and padding.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// The sizes of a weight [outputs, inputs, window...] from its window on. Error if it has none.
std::vector<std::int64_t> window_of(Call& call, const Shape& weight);

/// One number per spatial dimension each.
struct Windows {
  /// Reads the attributes of a call whose operand 0 is [N, C, spatial...].
  Windows(Call& call, std::vector<std::int64_t> kernel_size);

  /// The same without any padding.
  static Windows without_pads(Call& call, std::vector<std::int64_t> kernel_size);

  /// Leaves no padding and no ceil mode to ATen's operator: all of it goes to `before` and `after`.
  void pad_all(Call& call);
  /// The same if ATen's pools refuse the padding, which is more than half of the window.
  void fit_pool(Call& call);
  /// A tensor with what `padding` cannot say, as it is the same on both sides, put around it.
  ir::NodeId padded(Call& call, ir::NodeId node, double value) const;
  /// Ones where elements count, after pad_all: in the input, and in the file's padding if it
  /// counts.
  ir::NodeId counted(Call& call, bool counts_padding) const;

  std::vector<std::int64_t> kernel, stride, dilation, padding;
  /// More padding at the beginnings and ends; empty if there is none.
  std::vector<std::int64_t> before, after;
  bool ceil_mode = false;

 private:
  Windows() = default;
  void read_steps(Call& call);
  void read_pads(Call& call);
  std::vector<std::int64_t> pads_of_same(Call& call, bool upper) const;
  std::int64_t reach(std::size_t dim) const { return dilation[dim] * (kernel[dim] - 1) + 1; }
  /// The padding after the file's own that the last window of ceil mode reaches into.
  std::int64_t beyond(Call& call, std::size_t dim) const;

  std::vector<std::int64_t> file_before_, file_after_;
};

}  // namespace mase::onnx
