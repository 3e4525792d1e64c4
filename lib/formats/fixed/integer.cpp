// Resolving the parameters of `integer` and `integer_floor`.
#include "formats/fixed/integer.hpp"

namespace mase::formats {
void Integer::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (!frac_width) frac_width = width / 2;
  check_common(given, true, diagnostics);
}

IntegerSpec Integer::spec() const {
  return {width,       frac_width.value_or(width / 2), is_signed, rounding_value(), profile_value(),
          seed_value()};
}

void IntegerFloor::resolve(const Tree&, Diagnostics&) {
  if (!frac_width) frac_width = width / 2;
}

IntegerSpec IntegerFloor::spec() const {
  return {width, frac_width.value_or(width / 2), is_signed, Rounding::floor, profile_value(), 0};
}

}  // namespace mase::formats
