// SPDX-License-Identifier: Apache-2.0
// Helpers of the integer format tests: parameters and edge values of a grid.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/fixed/integer_scalar.hpp"
#include "formats/format_support.hpp"

namespace mase::formats {

inline std::string describe(const IntegerSpec& spec) {
  return "width " + std::to_string(spec.width) + " frac " + std::to_string(spec.frac_width) +
         (spec.is_signed ? " signed" : " unsigned") + " rounding " +
         std::to_string(static_cast<int>(spec.rounding)) +
         (spec.profile == Profile::reference ? " mase" : " exact");
}

/// The rounding and profile pairs that have kernels.
inline std::vector<IntegerSpec> deterministic_specs(int width, int frac_width, bool is_signed) {
  std::vector<IntegerSpec> specs;
  for (const auto& [rounding, profile] : {std::pair{Rounding::nearest_even, Profile::exact},
                                          {Rounding::floor, Profile::exact},
                                          {Rounding::nearest_away, Profile::exact},
                                          {Rounding::nearest_even, Profile::reference},
                                          {Rounding::floor, Profile::reference}})
    specs.push_back({width, frac_width, is_signed, rounding, profile, 0});
  return specs;
}

/// Values where the grid changes: zeros, subnormals, ties and their neighbours, limits, infinities,
/// NaN; both signs.
inline std::vector<float> edge_values(const IntegerSpec& spec) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values{0.0F,        0x1p-149F,
                            0x1.8p-148F, 0x1.fffffcp-127F,
                            0x1p-126F,   0x1p-64F,
                            1.0F,        0x1.fffffep127F,
                            inf,         std::numeric_limits<float>::quiet_NaN()};
  const auto add = [&](double code) {
    const float at = static_cast<float>(std::ldexp(code, -spec.frac_width));
    for (const float value : {at, std::nextafter(at, inf), std::nextafter(at, -inf)})
      values.push_back(value);
  };
  for (const double code : {0.5, 1.0, 1.5, 2.0, 2.5, 8388607.5, 8388608.5, 16777215.0}) add(code);
  for (const double limit : {spec.low(), spec.high()})
    for (const double offset : {-1.0, -0.5, 0.0, 0.5, 1.0}) add(limit + offset);
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

}  // namespace mase::formats
