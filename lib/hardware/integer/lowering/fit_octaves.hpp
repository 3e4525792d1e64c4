// SPDX-License-Identifier: Apache-2.0
// Functions of one wide input as straight pieces in octaves: fitted to the function's results, and
// measured.
#pragma once

#include <functional>
#include <string>

#include "hardware/integer/program.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// What is to be fitted.
struct OctaveTarget {
  std::string function;
  FixedType input;
  /// The result for an input code in units of the last place of the output, infinite where the
  /// function is. A place is taken by what lies within half a unit.
  std::function<double(std::int64_t code)> place;
  Interval range;     ///< of the output's codes; results beyond are its bounds
  double most_error;  ///< that is wanted, in the unit below
  /// The unit of errors at a place, in units of the last place.
  std::function<double(double place)> unit = [](double) { return 1.0; };
};

/// A table, and the fraction bits that its accumulators have below the output's last place.
struct FittedOctaves {
  OctavePieces table;
  int frac = 0;
};

/// With the fewest pieces whose largest error is at most the one wanted, and among these in the
/// fewest octaves; where there are none, at most 2^12 pieces with a small error. Each piece has the
/// line whose largest error is the least. Inputs have at least 13 bits.
///
/// The error that counts is measured at some inputs of each piece, its ends among them, and what
/// the function bends between these and the bits that are dropped can change are added. The error
/// of the table returned is that of all inputs where these have at most 22 bits.
FittedOctaves fit_octaves(const OctaveTarget& target);
inline constexpr int measured_bits = 22;

/// Input codes that show the range of a smooth function: some of each octave and sign.
Codes codes_of_octaves(const FixedType& type);

}  // namespace mase::integer
