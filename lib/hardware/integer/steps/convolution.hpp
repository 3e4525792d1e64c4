// SPDX-License-Identifier: Apache-2.0
// Convolutions with constant weights.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/integer/codes.hpp"
#include "hardware/integer/fixed.hpp"
#include "hardware/integer/window.hpp"

namespace mase::integer {

/// Cross-correlation; group g maps channels/groups inputs to outputs/groups outputs. Padding is
/// code 0. Depthwise: groups = channels.
struct Convolution {
  Window window;
  std::int64_t outputs = 0, groups = 1;
  FixedType weight_type;
  Codes weight;            ///< [outputs][kernel_height][kernel_width][channels / groups]
  std::vector<Wide> bias;  ///< [outputs]; empty without
  int bias_width = 0;      ///< as a linear's

  std::int64_t taps() const { return window.channels / groups; }     ///< per place of the kernel
  std::int64_t columns() const { return window.kernel() * taps(); }  ///< weights of one output
};

}  // namespace mase::integer
