// SPDX-License-Identifier: Apache-2.0
// Scaled streams in a lowering: nodes on codes, and where scales end.
#include <algorithm>
#include <cmath>
#include <utility>

#include "hardware/integer/lowering/lowering.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/scaled.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

bool has_input_formats(const ir::Node& node) {
  return std::ranges::any_of(node.formats,
                             [](const auto& entry) { return entry.first != "data_out"; });
}

/// Numbers as constants of one binary point.
Constants constants_of(const std::vector<Exact>& numbers) {
  int frac = 0;
  for (const Exact& number : numbers) frac = std::max(frac, -number.exponent());
  Constants constants{{std::ssize(numbers)}, {}, {}};
  for (const Exact& number : numbers) {
    const Wide code = (number * Exact(1, frac)).mantissa()
                      << std::max(0, (number * Exact(1, frac)).exponent());
    check_width({std::min<Wide>(code, 0), std::max<Wide>(code, 0)}, stream_bits, "its scale");
    constants.codes.push_back(static_cast<std::int64_t>(code));
  }
  constants.fit(frac);
  return constants;
}

/// The step that multiplies and adds without any loss.
std::pair<ScaleShift, Accumulator> exact_step(const Call& call, const Scaled& scaled) {
  if (scaled.low || scaled.high)
    throw Refusal{
        "the scale of its operand is not a power of two and its numbers are clamped; "
        "round them in front of it (data_in, pass quantize)"};
  std::vector<Exact> factors, shifts;
  for (const ExactLine& line : scaled.lines) {
    if (!line.divisor.is_power())
      throw Refusal{
          "its operand is a fraction that no binary code has; give it a data_in format "
          "(pass quantize)"};
    const Exact by(1, -line.divisor.exponent());
    factors.push_back(line.factor * by);
    shifts.push_back(line.shift * by);
  }
  std::optional<Constants> shift;
  if (std::ranges::any_of(shifts, [](const Exact& one) { return !one.is_zero(); }))
    shift = constants_of(shifts);
  return scale_step(call, scaled.codes, constants_of(factors), std::move(shift));
}

}  // namespace

StreamView Lowering::exact_stream(const Scaled& scaled, const ir::Node& reader,
                                  const std::string& port) {
  auto [step, accumulator] = exact_step({*this, reader}, scaled);
  return emit_before(reader, port + "_scale", std::move(step), {scaled.codes.id}, accumulator,
                     exactly(accumulator.range), layout_of(scaled.codes));
}

StreamView Lowering::rounded_stream(const Scaled& scaled, const Grid& grid, const ir::Node& reader,
                                    const std::string& port) {
  RoundingStep step = rounding_step(scaled, value(scaled.codes.id), grid);
  return emit_before(reader, port + "_scale", std::move(step.operation), {scaled.codes.id},
                     step.accumulator, step.requantise, layout_of(scaled.codes));
}

Operand Lowering::settled(Scaled scaled, const ir::Node& node) {
  if (const auto grid = target(node)) {
    RoundingStep step = rounding_step(scaled, value(scaled.codes.id), *grid);
    return emit(node, std::move(step.operation), {scaled.codes.id}, step.accumulator,
                step.requantise, grid->type.frac, layout_of(scaled.codes), "scale");
  }
  if (asked_levels(node) || asked_blocks(node)) return exact_stream(scaled, node, "data_out");
  return scaled;
}

namespace {

/// What codes are shifted left by so that the rounding of what is added to them is less than a
/// float32 of the greatest result has.
int bits_below(const Interval& codes) {
  constexpr int float_bits = 32;
  return std::max(0, float_bits - signed_width(codes.low, codes.high));
}

}  // namespace

StreamView Lowering::host_stream(const Scaled& scaled, const ir::Node& node) {
  if (scaled.low || scaled.high) return exact_stream(scaled, node, "data_out");
  const StreamValue codes = value(scaled.codes.id);
  const auto is_shifted = [](const ExactLine& line) { return !line.shift.is_zero(); };
  const auto is_zero = [](const ExactLine& line) { return line.factor.is_zero(); };
  if (std::ranges::any_of(scaled.lines, is_zero)) return exact_stream(scaled, node, "data_out");
  const Interval range = interval_of(codes.type);
  const bool shifts = std::ranges::any_of(scaled.lines, is_shifted);
  const int bits = shifts ? bits_below(range) : 0;
  std::vector<double> scales;
  std::vector<Wide> shift;
  for (const ExactLine& line : scaled.lines) {
    const double scale = line.factor.rounded() / line.divisor.rounded();
    scales.push_back(scale);
    const double steps = line.shift.rounded() / line.factor.rounded();
    shift.push_back(static_cast<Wide>(std::nearbyint(std::ldexp(steps, codes.type.frac + bits))));
  }
  StreamView stream = scaled.codes;
  if (shifts) {
    const std::int64_t unit = std::int64_t{1} << bits;
    ScaleShift step{type_for(0, unit, bits), Codes(shift.size(), unit), std::move(shift)};
    const Interval sums = matrix_interval(step.scale, 1, step.shift, range);
    stream = emit(node, std::move(step), {stream.id}, {sums, codes.type.frac + bits}, exactly(sums),
                  codes.type.frac + bits, layout_of(stream), "bias");
  } else if (!value(stream.id).scales.empty() ||
             std::ranges::find(program_.inputs, stream.id) != program_.inputs.end()) {
    const FixedType& type = value(stream.id).type;
    stream = add_cast(stream, unchanged(type), type, node, "value");
  }
  program_.values[at(stream.id)].scales = std::move(scales);
  return stream;
}

std::optional<double> Lowering::asked_step(const ir::Node& node) const {
  std::optional<double> step;
  std::optional<Grid> grid;
  for (const ir::NodeId user : graph().users(node.id)) {
    const ir::Node& reader = graph().node(user);
    const ir::Value* by = reader.find("other");
    const auto asked = target(reader);
    if (ir::base_op(reader.op) != "aten::div" || !by || !by->is_number() || !asked)
      return std::nullopt;
    const double own = static_cast<float>(by->as_double());
    const bool same =
        !step || (*step == own && grid->type == asked->type && grid->rounding == asked->rounding);
    if (!same || own <= 0 || has_input_formats(reader)) return std::nullopt;
    step = own;
    grid = asked;
  }
  return step;
}

namespace {

/// The one line of all operands; nullopt where they have none, or several.
std::optional<ExactLine> line_of_all(const Lowering& lowering, const ir::Node& node) {
  std::optional<ExactLine> line;
  for (const ir::NodeId input : lowering.graph().inputs(node.id)) {
    const Scaled* scaled = std::get_if<Scaled>(&lowering.operand(input));
    if (!scaled || !scaled->is_multiple()) return std::nullopt;
    const ExactLine& own = scaled->lines[0];
    if (line && !(line->factor == own.factor && line->divisor == own.divisor)) return std::nullopt;
    line = own;
  }
  return line;
}

/// Whether a weight or bias has steps that streams do not have.
bool has_steps(const ir::Node& node) {
  return std::ranges::any_of(node.formats, [](const auto& entry) {
    const Tree fields = entry.second.fields();
    const Tree* steps = fields.find("channel_step");
    return steps && !steps->as_list().empty();
  });
}

/// The line of the numbers that a layer reads as codes.
std::optional<ExactLine> line_of_layer(const Call& call) {
  const Scaled* input = call.scaled("input");
  if (input && input->is_multiple()) return input->lines[0];
  return has_steps(call.node) ? std::optional(ExactLine{Exact(1.0)}) : std::nullopt;
}

}  // namespace

std::optional<Operand> Lowering::lowered_on_codes(const ir::Node& node, const LoweringRow& row) {
  const bool is_layer = row.factors == Factors::multiplied;
  if (reloadable() || !(is_layer || keeps_factor(row))) return std::nullopt;
  if (!is_layer && has_input_formats(node)) return std::nullopt;
  const auto line = is_layer ? line_of_layer({*this, node}) : line_of_all(*this, node);
  if (!line) return std::nullopt;
  std::map<ir::NodeId, Operand> numbers;
  for (const ir::NodeId input : graph().inputs(node.id))
    if (const Scaled* scaled = std::get_if<Scaled>(&operands_.at(input));
        scaled && (!is_layer || Call{*this, node}.scaled("input") == scaled)) {
      const StreamView codes = scaled->codes;
      numbers[input] = std::exchange(operands_[input], codes);
    }
  on_codes_ = OnCodes{node.id, *line, {}};
  const auto leave = [&] {
    for (auto& [id, operand] : numbers) operands_[id] = std::move(operand);
    return *std::exchange(on_codes_, std::nullopt);
  };
  Operand result;
  try {
    result = row.lower({*this, node});
  } catch (...) {
    leave();
    throw;
  }
  const OnCodes done = leave();
  const StreamView* codes = std::get_if<StreamView>(&result);
  if (!codes) return std::nullopt;
  Scaled scaled{*codes, done.lines.empty() ? std::vector<ExactLine>{*line} : done.lines};
  return divided(std::move(scaled), {Exact(done.divisor, 0)});
}

}  // namespace mase::integer
