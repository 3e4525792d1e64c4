// SPDX-License-Identifier: Apache-2.0
// The random generator against published vectors, and its distributions.
#include "base/random.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace mase;

TEST_CASE("philox gives the known answers of Random123 (kat_vectors, philox4x32 10)") {
  using Block = std::array<std::uint32_t, 4>;
  REQUIRE(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  REQUIRE(philox({ones, ones, ones, ones}, {ones, ones}) ==
          Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  REQUIRE(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the words of a Random are the blocks of counter 0, 1, ... under its seed and stream") {
  Random random(0);
  REQUIRE(random.next_u32() == 0x6627e8d5);  // the all-zero vector above
  REQUIRE(random.next_u32() == 0xe169c58d);
  Random other(0x299f31d0a4093822, 0x0370734413198a2e);
  const auto block = philox({1, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  for (int i = 0; i < 4; ++i) other.next_u32();
  REQUIRE(other.next_u32() == block[0]);
}

TEST_CASE("uniform numbers stay in range and have the mean and variance of the distribution") {
  Random random(1);
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double value = random.uniform();
    REQUIRE((value >= 0.0 && value < 1.0));
    sum += value;
    squares += value * value;
  }
  REQUIRE(sum / count == Approx(0.5).margin(0.005));  // 5 standard errors
  REQUIRE(squares / count == Approx(1.0 / 3.0).margin(0.005));
  const double tiny = std::nextafter(1.0, 2.0);
  for (int i = 0; i < 100; ++i) REQUIRE(random.uniform(1.0, tiny) == 1.0);
}

TEST_CASE("normal numbers have mean 0, variance 1 and 68 percent within one deviation") {
  Random random(2);
  double sum = 0, squares = 0, inside = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double value = random.normal();
    REQUIRE(std::isfinite(value));
    sum += value;
    squares += value * value;
    inside += std::abs(value) < 1.0;
  }
  REQUIRE(sum / count == Approx(0.0).margin(0.016));
  REQUIRE(squares / count == Approx(1.0).margin(0.025));
  REQUIRE(inside / count == Approx(0.6827).margin(0.01));
}

TEST_CASE("below is uniform and a permutation holds every index once") {
  Random random(3);
  int counts[3] = {};
  for (int i = 0; i < 30000; ++i) ++counts[random.below(3)];
  for (const int count : counts) REQUIRE(count == Approx(10000).margin(450));
  REQUIRE(random.below(1) == 0);
  auto order = random.permutation(1000);
  REQUIRE_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) REQUIRE(order[static_cast<std::size_t>(i)] == i);
  REQUIRE(random.permutation(0).empty());
  REQUIRE(Random(7).permutation(50) == Random(7).permutation(50));
  REQUIRE(Random(7).permutation(50) != Random(7, 1).permutation(50));
}
