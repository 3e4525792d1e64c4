// SPDX-License-Identifier: Apache-2.0
// Functions of one input as steps: a table of all results, or straight pieces for wide inputs.
#pragma once

#include <string>
#include <vector>

#include "hardware/integer/lowering/requantise.hpp"

namespace mase::integer {

/// Bits of an input, up to which a function is a table, and up to which it is anything.
inline constexpr int most_table_bits = 12, most_function_bits = 16;

/// An operation, and what makes codes of a grid of its accumulators.
struct FunctionStep {
  Operation operation;
  Accumulator accumulator;
  Requantise requantise;

  Codes results(const Codes& inputs) const;
};

/// A function by its results for all codes of an input, in the order of their bits, as codes of the
/// grid in `range`. Those of tables are rounded once; those of pieces are at most `most_error` of
/// the last place off, or the function is refused.
FunctionStep function_step(const std::string& function, const std::vector<double>& results,
                           const Grid& grid, const Interval& range, double most_error);

/// Refuses an input of so many bits that no function of it has a datapath.
void check_function_input(const FixedType& type);

}  // namespace mase::integer
