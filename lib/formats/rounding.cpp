// SPDX-License-Identifier: Apache-2.0
// Rounds real numbers to integers, and names the modes.
#include "formats/rounding.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"

namespace mase::formats {

Rounding rounding_of(std::string_view name) {
  if (name == "nearest_even") return Rounding::nearest_even;
  if (name == "floor") return Rounding::floor;
  if (name == "nearest_away") return Rounding::nearest_away;
  MASE_CHECK(name == "stochastic", "rounding mode not checked by its field");
  return Rounding::stochastic;
}

Profile profile_of(std::string_view name) {
  if (name == "exact") return Profile::exact;
  MASE_CHECK(name == "reference", "profile not checked by its field");
  return Profile::reference;
}

double round_to_integer(double v, Rounding rounding, double u) {
  switch (rounding) {
    case Rounding::nearest_even:
      return std::nearbyint(v);
    case Rounding::floor:
      return std::floor(v);
    case Rounding::nearest_away:
      return std::round(v);
    case Rounding::stochastic:
      return std::floor(v + u);
  }
  MASE_CHECK(false, "rounding mode without a definition");
}

double stochastic_offset(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t block = index / 4;
  const auto words =
      philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
              rounding_domain, 0},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return static_cast<double>(words[index % 4] >> 8) * 0x1p-24;
}

}  // namespace mase::formats
