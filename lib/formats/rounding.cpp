// SPDX-License-Identifier: Apache-2.0
// Rounds real numbers to integers, and names the modes.
#include "formats/rounding.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"

namespace mase::formats {

namespace {

/// By the values of the enumeration.
constexpr std::array<std::string_view, 4> rounding_names{"nearest_even", "floor", "nearest_away",
                                                         "stochastic"};

}  // namespace

Rounding rounding_of(std::string_view name) {
  const auto found = std::ranges::find(rounding_names, name);
  MASE_CHECK(found != rounding_names.end(), "rounding mode not checked by its field");
  return static_cast<Rounding>(found - rounding_names.begin());
}

std::string_view rounding_name(Rounding rounding) {
  return rounding_names[static_cast<std::size_t>(rounding)];
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
