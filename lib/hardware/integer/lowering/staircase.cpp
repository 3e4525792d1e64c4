// SPDX-License-Identifier: Apache-2.0
// A line that is rounded is a staircase: it is known by the first code of each result. Integers do
// the same if they reach every result at that code and not at the one before.
#include "hardware/integer/lowering/staircase.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hardware/integer/lowering/operand.hpp"

namespace mase::integer {
namespace {

constexpr int most_bits = 60;
constexpr std::int64_t most_results = std::int64_t{1} << 24;

/// Whether the half below a result rounds to it.
bool has_half(Wide result, formats::Rounding rounding) {
  return rounding == formats::Rounding::nearest_away ? result > 0 : result % 2 == 0;
}

/// The side of the half below a result on which a number lies; of the result itself if rounding is
/// downwards.
int side_of(const ExactLine& line, std::int64_t code, Wide result, formats::Rounding rounding) {
  const Exact number = Exact(code, 0) * line.factor + line.shift;
  if (rounding == formats::Rounding::floor) return compare(number, Exact(result, 0) * line.divisor);
  return compare(number * Exact(2.0), Exact(2 * result - 1, 0) * line.divisor);
}

/// Whether a number rounds to `result` or more.
bool reaches(const ExactLine& line, std::int64_t code, Wide result, formats::Rounding rounding) {
  const int side = side_of(line, code, result, rounding);
  const bool at_half = rounding == formats::Rounding::floor || has_half(result, rounding);
  return side > 0 || (side == 0 && at_half);
}

/// A staircase that climbs: the first code of each result from `lowest` + 1 on.
struct Staircase {
  bool mirrored = false;  ///< whether codes are negated
  std::int64_t first = 0, last = 0;
  Wide lowest = 0;
  std::vector<std::int64_t> turns;
  bool has_halves = false;  ///< whether a code is an exact half

  Wide highest() const { return lowest + std::ssize(turns); }
};

ExactLine mirrored(ExactLine line) {
  line.factor = -line.factor;
  return line;
}

/// The first code of (first, last] that reaches a result, which the last one does.
std::int64_t first_code(const ExactLine& line, std::int64_t first, std::int64_t last, Wide result,
                        formats::Rounding rounding) {
  const double half = rounding == formats::Rounding::floor ? 0 : 0.5;
  const double guess = std::ceil(
      ((static_cast<double>(result) - half) * line.divisor.rounded() - line.shift.rounded()) /
      line.factor.rounded());
  auto code = static_cast<std::int64_t>(
      std::clamp(guess, static_cast<double>(first) + 1, static_cast<double>(last)));
  while (!reaches(line, code, result, rounding)) ++code;
  while (code - 1 > first && reaches(line, code - 1, result, rounding)) --code;
  return code;
}

Staircase staircase_of(const ExactLine& given, const Interval& codes, const Steps& steps) {
  Staircase stairs;
  stairs.mirrored = given.factor.sign() < 0;
  const ExactLine line = stairs.mirrored ? mirrored(given) : given;
  stairs.first = static_cast<std::int64_t>(stairs.mirrored ? -codes.high : codes.low);
  stairs.last = static_cast<std::int64_t>(stairs.mirrored ? -codes.low : codes.high);
  stairs.lowest = rounded_to(line, stairs.first, steps);
  const Wide highest = rounded_to(line, stairs.last, steps);
  std::int64_t before = stairs.first;
  for (Wide result = stairs.lowest + 1; result <= highest; ++result) {
    // Several results may begin with the same code.
    before =
        first_code(line, std::max(before - 1, stairs.first), stairs.last, result, steps.rounding);
    stairs.turns.push_back(before);
    for (const std::int64_t code : {before - 1, before})
      stairs.has_halves |= side_of(line, code, result, steps.rounding) == 0;
  }
  return stairs;
}

/// The number between two bounds, included, with the most zeros at its end.
Wide shortest_between(Wide low, Wide high) {
  for (int zeros = 120; zeros > 0; --zeros) {
    const Wide unit = static_cast<Wide>(1) << zeros;
    const Wide down = high >= 0 ? high / unit * unit : -((-high + unit - 1) / unit * unit);
    if (down >= low) return down;
  }
  return low;
}

/// How sums of integers are rounded: their bits below the binary point, and the mode.
struct Sums {
  int bits = 0;
  formats::Rounding rounding = formats::Rounding::floor;

  /// The least sum that becomes a result or more.
  Wide least(Wide result) const {
    const Wide unit = static_cast<Wide>(1) << bits;
    if (rounding == formats::Rounding::floor) return result * unit;
    const Wide twice = (2 * result - 1) * unit;  // a half is whole from one bit on
    return bits == 0 ? result : twice / 2 + (has_half(result, rounding) ? 0 : 1);
  }
};

/// Shifts from one to another; an end that is missing is not bounded.
struct Shifts {
  std::optional<Wide> low, high;

  void at_least(Wide bound) { low = std::max(low.value_or(bound), bound); }
  void at_most(Wide bound) { high = std::min(high.value_or(bound), bound); }
  bool are_none() const { return low && high && *low > *high; }
  Wide any() const {
    if (low && high) return shortest_between(*low, *high);
    return low ? std::max<Wide>(*low, 0) : std::min<Wide>(high.value_or(0), 0);
  }
};

/// The shifts with which a factor climbs the staircase.
Shifts shifts_for(const Staircase& stairs, const Steps& steps, Wide factor, const Sums& sums) {
  Shifts shifts;
  // An end that is clamped needs no bound.
  if (stairs.lowest > steps.low) shifts.at_least(sums.least(stairs.lowest) - factor * stairs.first);
  if (stairs.highest() < steps.high)
    shifts.at_most(sums.least(stairs.highest() + 1) - 1 - factor * stairs.last);
  Wide result = stairs.lowest;
  for (const std::int64_t code : stairs.turns) {
    ++result;
    shifts.at_least(sums.least(result) - factor * code);
    shifts.at_most(sums.least(result) - 1 - factor * (code - 1));
    if (shifts.are_none()) return shifts;
  }
  return shifts;
}

/// Whole factors around a slope of so many bits; none above 52 bits, which a double has.
std::vector<std::int64_t> factors_near(double slope, int bits) {
  const double scaled = std::ldexp(slope, bits), down = std::floor(scaled);
  if (std::abs(scaled) >= 0x1p52) return {};
  const auto nearest = static_cast<std::int64_t>(std::nearbyint(scaled));
  const auto below = static_cast<std::int64_t>(down);
  return {nearest, nearest == below ? below + 1 : below};
}

double slope_of(const Exact& factor, const Exact& divisor) {
  return factor.rounded() / divisor.rounded();
}

struct IntegerLine {
  std::int64_t factor = 0;
  Wide shift = 0;
};

std::optional<IntegerLine> integer_line(const ExactLine& line, const Staircase& stairs,
                                        const Steps& steps, const Sums& sums) {
  for (const auto factor : factors_near(std::abs(slope_of(line.factor, line.divisor)), sums.bits)) {
    const Shifts shifts = shifts_for(stairs, steps, factor, sums);
    if (!shifts.are_none()) return IntegerLine{stairs.mirrored ? -factor : factor, shifts.any()};
  }
  return std::nullopt;
}

std::optional<IntegerLines> integer_lines(const std::vector<ExactLine>& lines,
                                          const std::vector<Staircase>& stairs, const Steps& steps,
                                          const Sums& sums) {
  IntegerLines found{{}, {}, sums.bits, 1, sums.rounding};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto one = integer_line(lines[i], stairs[i], steps, sums);
    if (!one) return std::nullopt;
    found.factors.push_back(one->factor);
    found.shifts.push_back(one->shift);
  }
  return found;
}

Wide common_divisor(Wide a, Wide b) {
  a = a < 0 ? -a : a;
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

/// The factors and shifts of the lines themselves, as whole numbers over one divisor; nullopt where
/// these are too wide, or lines have several divisors.
std::optional<IntegerLines> divided_lines(const std::vector<ExactLine>& lines, const Steps& steps) {
  Wide common = lines[0].divisor.mantissa();
  int exponent = 0;
  for (const ExactLine& line : lines) {
    if (!(line.divisor == lines[0].divisor)) return std::nullopt;
    common = common_divisor(line.factor.mantissa(), common);
    common = common_divisor(line.shift.mantissa(), common);
    exponent = std::min({exponent, line.factor.exponent(), line.shift.exponent()});
  }
  IntegerLines found{{}, {}, lines[0].divisor.exponent() - exponent, 1, steps.rounding};
  const auto whole = [&](const Exact& number) -> Wide {
    const int bits = number.exponent() - exponent;
    constexpr int most = 60;
    const Wide mantissa = number.mantissa() / common;
    if (signed_width(std::min<Wide>(mantissa, 0), std::max<Wide>(mantissa, 0)) + bits > most)
      throw Refusal{"no integers of 60 bits round all of its sums as its scale does"};
    return mantissa * (static_cast<Wide>(1) << bits);
  };
  for (const ExactLine& line : lines) {
    found.factors.push_back(static_cast<std::int64_t>(whole(line.factor)));
    found.shifts.push_back(whole(line.shift));
  }
  const Wide divisor = lines[0].divisor.mantissa() / common;
  if (signed_width(0, divisor) > most_bits) return std::nullopt;
  found.divisor = static_cast<std::int64_t>(divisor);
  return found;
}

}  // namespace

Wide rounded_to(const ExactLine& line, std::int64_t code, const Steps& steps) {
  Wide low = steps.low, high = steps.high;
  while (low < high) {
    const Wide middle = low + (high - low + 1) / 2;
    if (reaches(line, code, middle, steps.rounding))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

IntegerLines integer_lines(const std::vector<ExactLine>& lines, const Interval& codes,
                           const Steps& steps) {
  if (signed_width(codes.low, codes.high) > 48)
    throw Refusal{"it rounds sums of more than 48 bits by a scale that is not a power of two"};
  std::vector<Staircase> stairs;
  std::int64_t results = 0;
  for (const ExactLine& line : lines) {
    stairs.push_back(staircase_of(line, codes, steps));
    results += std::ssize(stairs.back().turns);
    if (results > most_results)
      throw Refusal{
          "its channels have more than 2^24 results together, too many to find factors "
          "that are exact; give its result a format of fewer bits"};
  }
  const bool halves = std::ranges::any_of(stairs, &Staircase::has_halves);
  for (int bits = 0; bits <= most_bits; ++bits) {
    if (auto found = integer_lines(lines, stairs, steps, Sums{bits})) return *found;
    if (!halves || steps.rounding == formats::Rounding::floor) continue;
    if (auto found = integer_lines(lines, stairs, steps, Sums{bits, steps.rounding})) return *found;
  }
  if (auto found = divided_lines(lines, steps)) return *found;
  throw Refusal{
      "no factors of 52 bits round all of its sums as its scales do; give its result a "
      "format of fewer bits"};
}

namespace {

/// The line for one code of the other operand.
ExactLine line_at(const ExactPlane& plane, std::int64_t other) {
  ExactLine line = plane.line;
  line.shift = line.shift + Exact(other, 0) * plane.other;
  return line;
}

std::optional<IntegerPlane> integer_plane(const ExactPlane& plane, std::int64_t first,
                                          const std::vector<Staircase>& stairs, const Steps& steps,
                                          const Sums& sums) {
  const double slope = std::abs(slope_of(plane.line.factor, plane.line.divisor));
  for (const auto factor : factors_near(slope, sums.bits))
    for (const auto other : factors_near(slope_of(plane.other, plane.line.divisor), sums.bits)) {
      Shifts all;
      for (std::size_t i = 0; i < stairs.size() && !all.are_none(); ++i) {
        const Wide moved = static_cast<Wide>(other) * (first + static_cast<std::int64_t>(i));
        const Shifts own = shifts_for(stairs[i], steps, factor, sums);
        if (own.low) all.at_least(*own.low - moved);
        if (own.high) all.at_most(*own.high - moved);
      }
      if (!all.are_none())
        return IntegerPlane{stairs[0].mirrored ? -factor : factor, other, all.any(), sums.bits,
                            sums.rounding};
    }
  return std::nullopt;
}

}  // namespace

std::optional<IntegerPlane> integer_plane(const ExactPlane& plane, const Interval& codes,
                                          const Interval& others, const Steps& steps) {
  constexpr int most_codes = 1 << 12;
  if (signed_width(codes.low, codes.high) > 48 || others.high - others.low >= most_codes)
    return std::nullopt;
  std::vector<Staircase> stairs;
  std::int64_t results = 0;
  for (Wide other = others.low; other <= others.high; ++other) {
    stairs.push_back(staircase_of(line_at(plane, static_cast<std::int64_t>(other)), codes, steps));
    results += std::ssize(stairs.back().turns);
    if (results > most_results) return std::nullopt;
  }
  const auto first = static_cast<std::int64_t>(others.low);
  for (int bits = 0; bits <= most_bits; ++bits)
    for (const auto rounding : {formats::Rounding::floor, steps.rounding})
      if (auto found = integer_plane(plane, first, stairs, steps, Sums{bits, rounding}))
        return found;
  return std::nullopt;
}

}  // namespace mase::integer
