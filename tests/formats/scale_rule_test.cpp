// SPDX-License-Identifier: Apache-2.0
// The rules for shared exponents, against the specification's formulas on the bits of floats.
#include <catch2/catch.hpp>

#include "formats/block/block_support.hpp"
#include "formats/format_support.hpp"
#include "formats/scale_rule.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

int exponent_by_bits(std::uint32_t bits) { return static_cast<int>(bits >> 23) - 127; }

}  // namespace

TEST_CASE("shared exponents of normal numbers follow from their bits") {
  Random random(51);
  for (int trial = 0; trial < 20000; ++trial) {
    const std::uint32_t bits = 0x00800000 + static_cast<std::uint32_t>(random.below(0x7f000000));
    const float p = std::bit_cast<float>(trial % 4 == 0 ? bits & 0xff800000 : bits);
    const std::uint32_t u = bits_of(p);
    const int m = 1 + below(random, 10), emax = below(random, 20);
    const ElementTop top{emax, m, std::ldexp(2.0 - std::ldexp(1.0, -m), emax)};
    const int floor = exponent_by_bits(u) - emax;
    if (scale_exponent(ScaleRule::floor, top, p) != floor)
      CHECK(scale_exponent(ScaleRule::floor, top, p) == floor);
    const int ceil = floor + ((u & 0x7fffff) != 0 ? 1 : 0);
    if (scale_exponent(ScaleRule::ceil, top, p) != ceil)
      CHECK(scale_exponent(ScaleRule::ceil, top, p) == ceil);
    const int even = exponent_by_bits(u + (1U << (22 - m))) - emax;
    if (scale_exponent(ScaleRule::even, top, p) != even)
      CHECK(scale_exponent(ScaleRule::even, top, p) == even);
    // P / 2^X is at most max, as far as P / max is exact.
    const int rceil = scale_exponent(ScaleRule::rceil, top, p);
    const float quotient = static_cast<float>(static_cast<double>(p) / top.largest);
    if (std::ldexp(1.0, rceil) < quotient || std::ldexp(1.0, rceil - 1) >= quotient)
      CHECK(quotient == std::ldexp(1.0, rceil));
  }
  SUCCEED();
}

TEST_CASE("exponents of subnormal numbers are the true ones") {
  CHECK(exponent_of(0x1p-149F) == -149);
  CHECK(exponent_of(0x1.8p-127F) == -127);
  CHECK(exponent_of(0x1p-126F) == -126);
  CHECK(exponent_of(0x1.fffffep127F) == 127);
  const ElementTop top{0, 3, 1.875};
  CHECK(scale_exponent(ScaleRule::floor, top, 0x1.8p-140F) == -140);
  CHECK(scale_exponent(ScaleRule::ceil, top, 0x1.8p-140F) == -139);
  CHECK(scale_exponent(ScaleRule::ceil, top, 0x1p-140F) == -140);
  CHECK(scale_exponent(ScaleRule::even, top, 0x1.ep-140F) == -140);
  CHECK(scale_exponent(ScaleRule::even, top, 0x1.fp-140F) == -139);
  CHECK(scale_exponent(ScaleRule::rceil, top, 0x1.ep-140F) == -140);
  CHECK(scale_exponent(ScaleRule::rceil, top, 0x1.fp-140F) == -139);
}
