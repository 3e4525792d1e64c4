// SPDX-License-Identifier: Apache-2.0
// Checking the fields that number formats share.
#include "formats/common.hpp"

namespace mase::formats {

void CommonFields::check_common(const Tree& given, bool floor_in_reference,
                                Diagnostics& diagnostics) const {
  const bool known_in_reference =
      rounding == "nearest_even" || (floor_in_reference && rounding == "floor");
  if (profile == "reference" && !known_in_reference)
    diagnostics.error(place_of(given, "rounding"),
                      "profile 'reference' has no rounding '" + rounding + "'; use 'nearest_even'" +
                          (floor_in_reference ? " or 'floor'" : "") + ", or profile 'exact'");
  if (seed != 0 && rounding != "stochastic")
    diagnostics.warning(place_of(given, "seed"),
                        "'seed' has no effect unless rounding is 'stochastic'");
}

SourceLocation place_of(const Tree& given, std::string_view key) {
  const Tree* entry = given.find(key);
  return entry ? entry->where : given.where;
}

}  // namespace mase::formats
