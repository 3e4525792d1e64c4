// Resolving the parameters of `integer` and `integer_floor`.
#include "formats/integer.hpp"

namespace mase::formats {
namespace {

SourceLocation place_of(const Tree& given, std::string_view key) {
  const Tree* entry = given.find(key);
  return entry ? entry->where : given.where;
}

}  // namespace

void Integer::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (!frac_width) frac_width = width / 2;
  if (profile == "mase" && (rounding == "nearest_away" || rounding == "stochastic"))
    diagnostics.error(place_of(given, "rounding"),
                      "profile 'mase' has no rounding '" + rounding +
                          "'; use 'nearest_even' or 'floor', or profile 'exact'");
  if (seed != 0 && rounding != "stochastic")
    diagnostics.warning(place_of(given, "seed"),
                        "'seed' has no effect unless rounding is 'stochastic'");
}

IntegerSpec Integer::spec() const {
  return {width,
          frac_width.value_or(width / 2),
          is_signed,
          rounding_of(rounding),
          profile_of(profile),
          static_cast<std::uint64_t>(seed)};
}

void IntegerFloor::resolve(const Tree&, Diagnostics&) {
  if (!frac_width) frac_width = width / 2;
}

IntegerSpec IntegerFloor::spec() const {
  return {width, frac_width.value_or(width / 2), is_signed, Rounding::floor, profile_of(profile),
          0};
}

}  // namespace mase::formats
