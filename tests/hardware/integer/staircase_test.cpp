// SPDX-License-Identifier: Apache-2.0
// Multiples that are rounded by integers: every code against the definition in rational numbers.
#include "hardware/integer/lowering/staircase.hpp"

#include <catch2/catch.hpp>

#include "base/random.hpp"

using namespace mase;
using namespace mase::integer;

namespace {

/// A number as a fraction: c * factor + shift in units of 2^-60 over a divisor in units of 2^-60.
struct Fraction {
  Wide factor, shift, divisor;

  ExactLine line() const { return {{factor, -60}, {shift, -60}, {divisor, -60}}; }
};

/// The integer that a code becomes, by the remainder of the division.
Wide slowly_rounded(const Fraction& fraction, std::int64_t code, const Steps& steps) {
  const Wide number = code * fraction.factor + fraction.shift, by = fraction.divisor;
  Wide whole = number / by;
  if (number % by < 0) --whole;
  const Wide twice = 2 * (number - whole * by);
  using formats::Rounding;
  const bool tie_up = steps.rounding == Rounding::nearest_away ? number > 0 : whole % 2 != 0;
  if (steps.rounding != Rounding::floor && (twice > by || (twice == by && tie_up))) ++whole;
  return std::clamp(whole, steps.low, steps.high);
}

Wide quickly_rounded(const IntegerLines& lines, std::size_t i, std::int64_t code,
                     const Steps& steps) {
  const Wide sum = static_cast<Wide>(lines.factors[i]) * code + lines.shifts[i];
  return Requantise{lines.bits, lines.divisor, lines.rounding, steps.low, steps.high}(sum);
}

/// The number of codes that integers round to something else.
int differences(const std::vector<Fraction>& fractions, const Interval& codes, const Steps& steps,
                int* bits = nullptr) {
  std::vector<ExactLine> lines;
  for (const Fraction& fraction : fractions) lines.push_back(fraction.line());
  const IntegerLines found = integer_lines(lines, codes, steps);
  if (bits) *bits = found.bits;
  int wrong = 0;
  for (std::size_t i = 0; i < fractions.size(); ++i)
    for (auto code = static_cast<std::int64_t>(codes.low); code <= codes.high; ++code) {
      const Wide expected = slowly_rounded(fractions[i], code, steps);
      wrong += quickly_rounded(found, i, code, steps) != expected ? 1 : 0;
      wrong += rounded_to(lines[i], code, steps) != expected ? 1 : 0;
    }
  return wrong;
}

constexpr Wide unit = Wide{1} << 60;

}  // namespace

TEST_CASE("integers round every code as the exact multiple is rounded") {
  Random random(11);
  using formats::Rounding;
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::nearest_away, Rounding::floor})
    for (int trial = 0; trial < 60; ++trial) {
      std::vector<Fraction> fractions;
      for (int i = 0; i < 3; ++i) {
        const double factor = random.uniform(-1, 1) * std::ldexp(1.0, -trial % 13);
        fractions.push_back({static_cast<Wide>(std::ldexp(factor, 60)),
                             static_cast<Wide>(std::ldexp(random.uniform(-9, 9), 60)),
                             static_cast<Wide>(std::ldexp(random.uniform(0.01, 3), 60))});
      }
      const Steps steps{rounding, trial % 2 == 0 ? -128 : 0, trial % 3 == 0 ? 15 : 127};
      INFO("trial " << trial);
      CHECK(differences(fractions, {-3000, 4000}, steps) == 0);
    }
}

TEST_CASE("integers round every sum of two codes as the exact sum is rounded") {
  Random random(12);
  using formats::Rounding;
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::nearest_away, Rounding::floor})
    for (int trial = 0; trial < 8; ++trial) {
      const auto number = [&](double low, double high) {
        return static_cast<Wide>(std::ldexp(random.uniform(low, high), 60));
      };
      const Fraction fraction{number(-1, 1), number(-9, 9), number(0.5, 3)};
      const Wide other = number(-1, 1);
      const Steps steps{rounding, trial % 2 == 0 ? -128 : 0, 127};
      const auto found =
          integer_plane({fraction.line(), {other, -60}}, {-128, 127}, {-7, 90}, steps);
      REQUIRE(found);
      int wrong = 0;
      for (std::int64_t a = -128; a <= 127; ++a)
        for (std::int64_t b = -7; b <= 90; ++b) {
          Fraction moved = fraction;
          moved.shift += b * other;
          const Wide sum = Wide{found->factor} * a + Wide{found->other} * b + found->shift;
          const Requantise result{found->bits, 1, found->rounding, steps.low, steps.high};
          wrong += result(sum) != slowly_rounded(moved, a, steps) ? 1 : 0;
        }
      CHECK(wrong == 0);
    }
  // More codes than can be looked at, and halves on thirds, are left to a divisor.
  CHECK_FALSE(integer_plane({{1.0, {}, 3.0}, 1.0}, {0, 9}, {0, 1 << 20}, {.low = 0, .high = 9}));
  CHECK_FALSE(integer_plane({{1.0, {}, 6.0}, 1.0}, {0, 99}, {0, 99}, {.low = 0, .high = 30}));
}

TEST_CASE("halves that are exact go where the mode of rounding says") {
  using formats::Rounding;
  const std::vector<Fraction> halves{
      {unit, 0, 2 * unit}, {unit, 0, 6 * unit}, {-unit, unit, 10 * unit}, {3 * unit, 0, 14 * unit}};
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::nearest_away, Rounding::floor})
    for (const Fraction& half : halves)
      CHECK(differences({half}, {-1000, 1000}, {rounding, -100, 100}) == 0);
}

TEST_CASE("a factor takes no more bits than its results need") {
  int bits = 0;
  CHECK(differences({{unit, 0, 4 * unit}}, {-512, 511}, {.low = -128, .high = 127}, &bits) == 0);
  CHECK(bits == 2);
  // One result: no bits at all.
  CHECK(differences({{unit, 0, 3 * unit}}, {-512, -1}, {.low = 0, .high = 127}, &bits) == 0);
  CHECK(bits == 0);
  // Channels of no scale give their shift.
  CHECK(differences({{0, 5 * unit, 2 * unit}}, {-9, 9}, {.low = 0, .high = 127}) == 0);
}
