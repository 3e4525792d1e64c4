// SPDX-License-Identifier: Apache-2.0
// Functions of one wide input as straight pieces: fitted to the function's results, and measured
// over all inputs.
#pragma once

#include <string>
#include <vector>

#include "hardware/integer/program.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// A piecewise table has at most 2^12 segments.
inline constexpr int most_segment_bits = 12;

/// What is to be fitted.
struct PiecewiseTarget {
  std::string function;
  /// For each of 2^width input codes, in the order of their bits, the result in units of the last
  /// place of the output, clamped to its type. A place is taken by what lies within half a unit.
  std::vector<double> places;
  Interval range;     ///< of the output's codes; results beyond are its bounds
  double most_error;  ///< that is wanted, in units of the last place
};

/// A table, and the fraction bits that its accumulators have below the output's last place.
struct FittedPiecewise {
  Piecewise table;
  int frac = 0;
};

/// With the smallest power of two of segments, at least two, whose largest error over all inputs
/// is at most the one wanted; where there is none, with the most segments. Each segment has the
/// line whose largest error is the least. Inputs have at least two bits.
FittedPiecewise fit_piecewise(const PiecewiseTarget& target);

}  // namespace mase::integer
