// SPDX-License-Identifier: Apache-2.0
// Resolving the parameters of `integer_floor`, and the rows of the integer formats.
#include "formats/fixed/integer.hpp"

namespace mase::formats {
void IntegerFloor::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (!frac_width) frac_width = width / 2;
  check_channels(given, Rounding::floor, diagnostics);
}

IntegerSpec IntegerFloor::spec() const {
  return {width, frac_width.value_or(width / 2), is_signed, Rounding::floor, profile_value(), 0};
}

FormatRow integer_row() { return format_row<Integer>(); }
FormatRow integer_floor_row() { return format_row<IntegerFloor>(); }
FormatRow fixed_row() { return format_row<Fixed>(); }

}  // namespace mase::formats
