// SPDX-License-Identifier: Apache-2.0
// Which differences between two levels rounding of float32 explains.
#include <catch2/catch.hpp>

#include "driver/level_distance.hpp"

using namespace mase;

namespace {

/// The distance of a float32 sum of products from the exact one: `rows` times the same.
driver::LevelDistance distance_of(const std::vector<float>& terms, float exact, int rows) {
  driver::LevelDistance distance;
  float sum = 0;
  for (const float term : terms) sum += term;
  for (int row = 0; row < rows; ++row)
    distance.add(Array::from(std::vector<float>{sum, 1.0F}, {2}),
                 Array::from(std::vector<float>{exact, 1.0F}, {2}));
  return distance;
}

}  // namespace

TEST_CASE("sums that float32 rounds are no reason for a warning, lost terms are") {
  // 2^24 + 3 lies between two float32 numbers, and becomes the greater one.
  const auto near = distance_of({0x1p24F, 3.0F}, 0x1p24F + 2, 4);
  CHECK(near.share_beyond(0) == 0.5);
  CHECK(!near.is_beyond_float32());
  CHECK_THAT(near.text(), Catch::Contains("in 50.0 % of the results, by at most 2.0 of"));
  const auto lost = distance_of({0x1p26F, 1.0F, -0x1p26F}, 1.0F, 4);
  CHECK(lost.share_beyond(0) == 0.5);
  CHECK(lost.is_beyond_float32());
}
