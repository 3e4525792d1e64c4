// SPDX-License-Identifier: Apache-2.0
// Tables for narrow inputs and pieces for wide ones.
#include "hardware/integer/lowering/function_step.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "hardware/integer/lowering/best_line.hpp"
#include "hardware/integer/lowering/fit_octaves.hpp"
#include "hardware/integer/lowering/fit_piecewise.hpp"
#include "hardware/integer/lowering/operand.hpp"
#include "hardware/integer/lowering/requantise.hpp"

namespace mase::integer {
namespace {

FunctionStep whole_table(const std::string& function, const std::vector<double>& results,
                         const Grid& grid, const Interval& range) {
  Lookup lookup{function, {}};
  for (const double result : results)
    lookup.table.push_back(static_cast<std::int64_t>(code_of(result, grid)));
  return {std::move(lookup), {range, grid.type.frac}, exactly(range)};
}

/// A result in units of the grid's last place; a grid that rounds down names what lies half a unit
/// above its codes.
double place_on(const Grid& grid, double result) {
  const double half = grid.rounding == formats::Rounding::floor ? 0.5 : 0.0;
  return std::ldexp(result, grid.type.frac) - half;
}

/// The same of all of them, clamped.
std::vector<double> places_on(const Grid& grid, const std::vector<double>& results) {
  std::vector<double> places;
  for (const double result : results)
    places.push_back(std::clamp(place_on(grid, result), static_cast<double>(grid.type.low()),
                                static_cast<double>(grid.type.high())));
  return places;
}

[[noreturn]] void refuse_pieces(const Pieces& table) {
  throw Refusal{table.function + " of its input in " + std::to_string(table.slope.size()) +
                " straight pieces is off by up to " + fixed_text(table.largest_error, 1) +
                " of the last place of its result; give it a data_in format of at most " +
                std::to_string(most_table_bits) +
                " bits, or a coarser data_out format (pass quantize)"};
}

template <class Fitted>
FunctionStep step_of_pieces(Fitted fitted, const Interval& range, int frac, double most_error) {
  if (fitted.table.largest_error > most_error) refuse_pieces(fitted.table);
  const Accumulator accumulator{fitted.table.accumulators(), frac + fitted.frac};
  return {std::move(fitted.table), accumulator, piecewise_requantise(fitted.frac, range)};
}

}  // namespace

Codes FunctionStep::results(const Codes& inputs) const {
  const std::int64_t count = std::ssize(inputs);
  Codes outputs(inputs.size());
  Frame<Wide> frame({count}, count, requantise,
                    signed_width(accumulator.range.low, accumulator.range.high));
  frame.set({inputs.data()}, outputs.data());
  std::visit([&](const auto& step) { step.run(frame); }, operation);
  return outputs;
}

FunctionStep function_step(const std::string& function, const std::vector<double>& results,
                           const Grid& grid, const Interval& range, double most_error) {
  if (results.size() <= std::size_t{1} << most_table_bits)
    return whole_table(function, results, grid, range);
  return step_of_pieces(fit_piecewise({function, places_on(grid, results), range, most_error}),
                        range, grid.type.frac, most_error);
}

FunctionStep octave_step(const WideFunction& function, const Grid& grid, const Interval& range,
                         double most_error, const std::function<double(double)>& unit) {
  const auto place = [&](std::int64_t code) {
    return place_on(grid,
                    function.real(std::ldexp(static_cast<double>(code), -function.input.frac)));
  };
  return step_of_pieces(
      fit_octaves({function.name, function.input, place, range, most_error, unit}), range,
      grid.type.frac, most_error);
}

}  // namespace mase::integer
