// SPDX-License-Identifier: Apache-2.0
// Constant factors and summands along a stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

  std::string_view step_kind() const { return "scale_shift"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return type_text(scale_type); }
  static constexpr bool only_moves = false;
};

}  // namespace mase::integer
