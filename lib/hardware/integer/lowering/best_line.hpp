// SPDX-License-Identifier: Apache-2.0
// Straight lines through points of a function: those of the pieces of its steps.
#pragma once

#include <cstdint>
#include <span>

#include "hardware/integer/program.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// Fraction bits of a piece below the last place, beyond the bits of l: a slope that is off by half
/// a unit moves the end of its piece by 2^-4 of the last place.
inline constexpr int guard_bits = 3;

/// A function's result at low bits l, in units of the last place of the output, clamped to its
/// type. A place is taken by what lies within half a unit.
struct Point {
  std::int64_t low = 0;
  double place = 0;
};

/// Base and slope in units of 2^-frac of the output's last place.
struct Line {
  std::int64_t slope = 0;
  Wide base = 0;
};

/// The line whose largest error at points of ascending l is the least, for outputs in a range:
/// results beyond it are its bounds. The base has the half that makes rounding down rounding to
/// nearest.
Line best_line(std::span<const Point> points, const Interval& range, int frac);

/// What brings an accumulator on such lines to a result of the range.
Requantise piecewise_requantise(int frac, const Interval& range);

}  // namespace mase::integer
