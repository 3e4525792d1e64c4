// SPDX-License-Identifier: Apache-2.0
// Accumulators of steps, and the requantisation of their codes to the codes of a result.
#pragma once

#include <cstdint>
#include <string>

#include "hardware/integer/datapath.hpp"
#include "hardware/integer/program.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// Accumulator of a step: its codes, fraction bits, and what the code is divided by.
struct Accumulator {
  Interval range;
  int frac = 0;
  std::int64_t divisor = 1;
};

/// The code of a real number, clamped; infinite numbers give the limits. On the grid of a format
/// with blocks numbers between two codes get the odd one, which is on the same side of every number
/// at which the format rounds otherwise.
Wide code_of(double number, const Grid& grid);
/// Whether every value of `inner` is a value of `outer`.
bool holds(const FixedType& outer, const FixedType& inner);
/// The requantisation of codes of a range, or of a type, to the same codes.
Requantise exactly(const Interval& range);
Requantise unchanged(const FixedType& type);
/// Requantisation of an accumulator to a grid.
Requantise to_grid(const Accumulator& accumulator, const Grid& grid);
/// Reason when codes need more than `limit` bits.
void check_width(const Interval& range, int limit, const std::string& what);
/// That reason: "WHAT 70 bits, more than 62", and what to do.
std::string too_wide(const std::string& what, int bits, int limit);

}  // namespace mase::integer
