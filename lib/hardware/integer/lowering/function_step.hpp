// SPDX-License-Identifier: Apache-2.0
// Functions of one input as steps: a table of all results, or straight pieces for wide inputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hardware/integer/lowering/requantise.hpp"

namespace mase::integer {

/// Bits of an input, up to which a function is a table, and up to which all of its results are
/// looked at: then it has straight pieces of one length.
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

/// A function of codes of a type that has more than `most_table_bits` bits.
struct WideFunction {
  std::string name;
  FixedType input;
  std::function<double(double)> real;
};

/// The same in straight pieces that are finer the smaller the input is. Errors are in units of so
/// many last places at a place.
FunctionStep octave_step(
    const WideFunction& function, const Grid& grid, const Interval& range, double most_error,
    const std::function<double(double place)>& unit = [](double) { return 1.0; });

}  // namespace mase::integer
