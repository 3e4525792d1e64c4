// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of formats with scales: random tensors, round trips, and an independent
// definition of sums.
#pragma once

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/random.hpp"
#include "formats/format_support.hpp"

namespace mase::formats {

using Values = std::vector<float>;

/// A shape of any rank up to 4, now and then without elements.
inline Shape random_shape(Random& random) {
  Shape shape(random.below(5));
  for (std::int64_t& dimension : shape)
    dimension = random.below(12) == 0 ? static_cast<std::int64_t>(random.below(60))
                                      : 1 + static_cast<std::int64_t>(random.below(9));
  return shape;
}

/// Numbers over many binades around 1, with zeros, subnormals and infinities.
inline Values random_numbers(Random& random, std::size_t count) {
  Values values(count);
  for (float& value : values) {
    const auto exponent = static_cast<int>(random.below(24)) - 16;
    value = static_cast<float>(std::ldexp(random.normal(), exponent));
    if (random.below(20) == 0) value = random.below(2) == 0 ? 0.0F : -0.0F;
    if (random.below(50) == 0) value = std::ldexp(value, -130);
    if (random.below(200) == 0) value = random.below(2) == 0 ? INFINITY : -INFINITY;
  }
  return values;
}

/// decode(encode(x)) == quantize(x), bit for bit.
inline void check_round_trip(const std::string& text, const Values& in, const Shape& shape) {
  INFO(text << " " << shape_text(shape));
  const Format format = parse_format(text);
  Values direct(in.size()), decoded(in.size());
  format.quantize(in, direct, shape);
  format.decode(format.encode(in, shape), decoded, shape);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i) wrong += bits_of(direct[i]) != bits_of(decoded[i]);
  if (wrong != 0) CHECK(wrong == 0);
}

/// Sum and number of the finite magnitudes above a limit: 16 lanes, then pairs, then pairs of
/// these.
inline std::pair<double, std::int64_t> slow_sum(const Values& values, double above) {
  std::vector<double> lanes(16);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size = std::fabs(static_cast<double>(values[i]));
    if (!std::isfinite(size) || !(size > above)) continue;
    lanes[i % 16] += size;
    ++count;
  }
  while (lanes.size() > 1) {
    const std::size_t half = lanes.size() / 2;
    std::vector<double> sums;
    for (std::size_t j = 0; j < half; ++j) sums.push_back(lanes[j] + lanes[j + half]);
    lanes = sums;
  }
  return {lanes[0], count};
}

}  // namespace mase::formats
