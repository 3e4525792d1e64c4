// SPDX-License-Identifier: Apache-2.0
// Constant factors and summands along a stream.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/integer/codes.hpp"
#include "hardware/integer/fixed.hpp"

namespace mase::integer {

/// y[i] = scale[i] * x[i] + shift[i], the constants repeated along the stream: one for each
/// channel, or one for each element of a frame.
struct ScaleShift {
  FixedType scale_type;
  Codes scale;
  std::vector<Wide> shift;  ///< aligned to the accumulator; empty without
  int shift_width = 0;      ///< as a linear's bias_width
};

}  // namespace mase::integer
