// SPDX-License-Identifier: Apache-2.0
// Lowering of the op that counts the thresholds which an element reaches.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"

namespace mase::integer {
namespace {

/// Bits of an element up to which a table of all results is smaller than a search among thresholds
/// that are the same for all channels.
constexpr int most_bits_of_results = 8;
/// What simulators and synthesis take as one parameter.
constexpr std::int64_t most_threshold_bits = 131072;

/// Thresholds as the least codes that reach them: of a code, `x >= t` is `code >= ceil(t *
/// 2^frac)`. One that no code reaches is the code after the last.
struct Thresholds {
  std::int64_t count = 0;   ///< of a row
  std::vector<Wide> codes;  ///< those of each row ascending
  Constants rows;           ///< the number of the row of each channel

  auto row(std::int64_t index) const { return codes.begin() + index * count; }
};

Thresholds thresholds_of(const Call& call, const FixedType& type) {
  const Parameter* parameter = call.parameter("thresholds");
  if (!parameter) throw Refusal{"its thresholds are computed; constant ones have a datapath"};
  const Array values = call.values(*parameter);
  Thresholds thresholds{values.shape().back(), {}, {}};
  const double below = static_cast<double>(type.low()), end = std::ldexp(1.0, type.width) + below;
  for (const float value : values.span<float>()) {
    if (std::isnan(value)) throw Refusal{"one of its thresholds is NaN"};
    const double code = std::ceil(std::ldexp(static_cast<double>(value), type.frac));
    thresholds.codes.push_back(static_cast<Wide>(std::clamp(code, below, end)));
  }
  thresholds.rows.shape = {values.shape().begin(), values.shape().end() - 1};
  thresholds.rows.codes.resize(at(numel(thresholds.rows.shape)));
  std::iota(thresholds.rows.codes.begin(), thresholds.rows.codes.end(), 0);
  for (auto row = thresholds.codes.begin(); row != thresholds.codes.end(); row += thresholds.count)
    std::sort(row, row + thresholds.count);
  return thresholds;
}

/// The results of so many thresholds, as float32 has them.
std::vector<double> results_of(const Call& call, std::int64_t count) {
  const auto scale = static_cast<float>(call.number("out_scale", 1)),
             bias = static_cast<float>(call.number("out_bias", 0));
  std::vector<double> results;
  for (std::int64_t n = 0; n <= count; ++n) results.push_back(static_cast<float>(n) * scale + bias);
  return results;
}

/// The grid that the result is asked for on; else the least one that holds all results.
Grid grid_of(const Call& call, const std::vector<double>& results) {
  if (const auto grid = call.lowering.target(call.node)) return *grid;
  if (const auto levels = call.lowering.asked_levels(call.node)) return grid_of_levels(levels);
  int frac = 0;
  for (const double result : results) frac = std::max(frac, call.constant(result).type.frac);
  const auto [low, high] = std::ranges::minmax(results);
  return {type_for(static_cast<Wide>(std::ldexp(low, frac)),
                   static_cast<Wide>(std::ldexp(high, frac)), frac),
          formats::Rounding::nearest_even};
}

/// The result of every code of a type, in the order of their bits.
Lookup table_of(const Quantize& step, const FixedType& type) {
  Lookup table{step.format, {}};
  for (Wide bits = 0; bits < Wide{1} << type.width; ++bits)
    table.table.push_back(step(bits > type.high() ? bits - (Wide{1} << type.width) : bits));
  return table;
}

/// Without thresholds that all codes reach, or none, where they are the same for all channels.
Quantize within_reach(const Quantize& step, const FixedType& type) {
  Quantize kept{step.format, {}, {step.levels.front()}};
  for (std::size_t i = 0; i < step.count() && step.thresholds[i] <= type.high(); ++i) {
    if (step.thresholds[i] <= type.low())
      kept.levels.clear();
    else
      kept.thresholds.push_back(step.thresholds[i]);
    kept.levels.push_back(step.levels[i + 1]);
  }
  return kept;
}

Operand lower_multi_threshold(const Call& call) {
  const StreamView x = call.stream("self");
  const FixedType type = call.lowering.value(x.id).type;
  Thresholds thresholds = thresholds_of(call, type);
  const std::vector<double> results = results_of(call, thresholds.count);
  const Grid grid = grid_of(call, results);
  Quantize step{"thresholds", {}, {}};
  for (const double result : results)
    step.levels.push_back(static_cast<std::int64_t>(code_of(result, grid)));
  const Codes rows = in_stream_order(call, x, std::move(thresholds.rows)).codes;
  const auto same = [&](std::int64_t row) {
    return std::equal(thresholds.row(row), thresholds.row(row + 1), thresholds.row(rows.front()));
  };
  const bool alike = std::ranges::all_of(rows, same);
  step.channels = alike ? 1 : std::ssize(rows);
  for (const std::int64_t row : std::span(rows).first(at(step.channels)))
    step.thresholds.insert(step.thresholds.end(), thresholds.row(row), thresholds.row(row + 1));
  if (alike) step = within_reach(step, type);
  const std::int64_t bits = std::ssize(step.thresholds) * (type.width + 1);
  if (bits > most_threshold_bits)
    throw Refusal{"its thresholds have " + std::to_string(bits) + " bits, more than " +
                  std::to_string(most_threshold_bits) +
                  "; give it a data_in format with fewer bits (pass quantize)"};
  const auto [low, high] = std::ranges::minmax(step.levels);
  const Interval range{low, high};
  Operation operation = step;
  if (alike && type.width <= most_bits_of_results) operation = table_of(step, type);
  const StreamView result =
      call.lowering.emit(call.node, std::move(operation), {x.id}, {range, grid.type.frac},
                         exactly(range), grid.type.frac, call.lowering.layout_of(x));
  if (grid.levels) call.lowering.set_levels(result.id, grid.levels);
  return result;
}

}  // namespace

std::vector<LoweringRow> threshold_rows() { return {{"multi_threshold", lower_multi_threshold}}; }

}  // namespace mase::integer
