// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of minifloats and logs: random parameters, values where grids change,
// and comparison of every element.
#pragma once

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "formats/format_support.hpp"
#include "formats/minifloat/log_scalar.hpp"
#include "formats/minifloat/minifloat_scalar.hpp"

namespace mase::formats {

/// One assertion per element: a failure says which.
inline void check_same(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i << ": " << found[i] << ", expected " << expected[i]);
    CHECK(same_value(found[i], expected[i]));
  }
}

inline int between(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

/// Any minifloat of profile exact that the formats accept, with biases around the default.
inline MinifloatSpec random_minifloat(Random& random, Rounding rounding) {
  MinifloatSpec spec;
  spec.hidden_bit = random.below(3) != 0;
  spec.exponent_width = between(random, 1, 8);
  const int least = spec.hidden_bit ? 0 : 1;
  spec.width = between(random, spec.exponent_width + 1 + least, 16);
  spec.exponent_bias = (1 << (spec.exponent_width - 1)) - 1 + between(random, -40, 40);
  if (spec.exponent_width == 8) spec.exponent_bias = between(random, 125, 128);
  if (random.below(8) == 0) spec.exponent_bias = between(random, -300, 300);
  spec.rounding = rounding;
  spec.seed = random.below(100);
  if (!spec.hidden_bit || spec.mantissa_bits() == 0) return spec;
  spec.specials = static_cast<Specials>(random.below(3));
  if (spec.exponent_width == 1 && spec.specials == Specials::ieee) spec.specials = Specials::none;
  spec.saturate = random.below(2) == 0;
  return spec;
}

/// Any log of profile exact, most of them narrow.
inline LogSpec random_log(Random& random, Rounding rounding) {
  LogSpec spec;
  spec.width = random.below(8) == 0 ? between(random, 9, 32) : between(random, 2, 8);
  spec.exponent_bias = (1 << (spec.width - 2)) - 1 - between(random, -20, 20);
  spec.exponent_bias = std::min(spec.exponent_bias, 1 << 30);
  spec.zero = random.below(3) != 0;
  spec.rounding = rounding;
  spec.seed = random.below(100);
  return spec;
}

inline std::string text_of(const MinifloatSpec& spec) {
  const std::vector<std::string> specials{"none", "ieee", "fn"};
  const std::vector<std::string> roundings{"nearest_even", "floor", "nearest_away", "stochastic"};
  std::string text = spec.hidden_bit ? "minifloat_ieee(" : "minifloat_denorm(";
  text += std::to_string(spec.width) + ", " + std::to_string(spec.exponent_width) + ", " +
          std::to_string(spec.exponent_bias);
  if (spec.hidden_bit)
    text += ", inf_nan=" + specials[static_cast<std::size_t>(spec.specials)] +
            ", saturate=" + (spec.saturate ? "true" : "false");
  return text + ", rounding=" + roundings[static_cast<std::size_t>(spec.rounding)] +
         ", profile=" + (spec.profile == Profile::reference ? "mase" : "exact") +
         ", seed=" + std::to_string(spec.seed.key) + ")";
}

inline std::string text_of(const LogSpec& spec) {
  const std::vector<std::string> roundings{"nearest_even", "floor", "nearest_away", "stochastic"};
  return "log(" + std::to_string(spec.width) + ", " + std::to_string(spec.exponent_bias) +
         ", zero=" + (spec.has_zero() ? "true" : "false") +
         ", rounding=" + roundings[static_cast<std::size_t>(spec.rounding)] +
         ", profile=" + (spec.profile == Profile::reference ? "mase" : "exact") +
         ", seed=" + std::to_string(spec.seed.key) + ")";
}

/// A value and its neighbours, with both signs.
inline void add_around(std::vector<float>& values, double at) {
  const auto value = static_cast<float>(at);
  for (const float near : {value, std::nextafter(value, 0.0F), std::nextafter(value, INFINITY)})
    for (const float sign : {1.0F, -1.0F}) values.push_back(sign * near);
}

/// Zeros, the ends of float32, infinities and NaN.
inline std::vector<float> special_floats() {
  std::vector<float> values{NAN, -NAN};
  for (const double at :
       {0.0, 0x1p-149, 0x1p-126, 1.0, 0x1.6a09e6p0, 0x1.fffffep127, static_cast<double>(INFINITY)})
    add_around(values, at);
  return values;
}

/// Values of the grid, the quarters between them, the largest and what is beyond.
inline std::vector<float> edges_of(const MinifloatSpec& spec) {
  std::vector<float> values = special_floats();
  const double largest = spec.largest();
  const double below = std::ldexp(1.0, spec.top_exponent() - spec.fraction_bits());
  for (const double steps : {-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 4.0})
    add_around(values, largest + steps * below);
  const int f = spec.fraction_bits();
  for (int exponent = spec.lowest_exponent() - 1; exponent <= spec.top_exponent() + 1;
       exponent += 1 + (spec.top_exponent() - exponent) / 8)
    for (const int step : {0, 1, 2, 3, (1 << f) - 1})
      for (const double part : {0.0, 0.25, 0.5, 0.75})
        add_around(values, std::ldexp((1 << f) + step + part, exponent - f));
  for (const double steps : {0.25, 0.5, 0.75, 1.0, 1.5, 2.5})
    add_around(values, std::ldexp(steps, spec.lowest_exponent() - f));
  return values;
}

/// Powers of two, the points half way in the logarithm, and the limits.
inline std::vector<float> edges_of(const LogSpec& spec) {
  std::vector<float> values = special_floats();
  const auto low = std::max<std::int64_t>(spec.lowest_exponent() - 2, -151);
  const auto high = std::min<std::int64_t>(spec.highest_exponent() + 1, 127);
  for (std::int64_t exponent = low; exponent <= high; ++exponent)
    for (const double significand : {1.0, 1.25, 0x1.6a09e6p0, 0x1.6a09e8p0, 1.5, 1.75})
      add_around(values, significand * power_of_two(exponent));
  return values;
}

inline float random_pattern(Random& random) { return std::bit_cast<float>(random.next_u32()); }

/// Magnitudes spread over the exponents from low to high, both signs.
inline float random_magnitude(Random& random, double low, double high) {
  const double value =
      std::ldexp(random.uniform(1, 2), static_cast<int>(random.uniform(low, high)));
  return static_cast<float>(random.below(2) == 0 ? value : -value);
}

}  // namespace mase::formats
