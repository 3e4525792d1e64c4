// SPDX-License-Identifier: Apache-2.0
// Scaled streams in a lowering: nodes on codes, and where scales end.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/host_numbers.hpp"
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
  const Call call{*this, reader};
  if (scaled.other) {
    Scaled first = scaled, second{scaled.other->codes, {{scaled.other->factor}}};
    first.other.reset();
    second.lines[0].divisor = scaled.lines[0].divisor;
    const StreamView a = exact_stream(first, reader, port);
    const StreamView b = exact_stream(second, reader, port + "_other");
    const auto [sum, accumulator] = binary_step(call, BinaryKind::add, a, b);
    return emit_before(reader, port + "_sum", sum, {a.id, b.id}, accumulator,
                       exactly(accumulator.range), layout_of(a));
  }
  auto [step, accumulator] = exact_step(call, scaled);
  return emit_before(reader, port + "_scale", std::move(step), {scaled.codes.id}, accumulator,
                     exactly(accumulator.range), layout_of(scaled.codes));
}

StreamView Lowering::whole_multiple(const StreamView& stream, std::int64_t factor, Wide shift,
                                    const ir::Node& reader, const std::string& suffix) {
  const StreamValue& codes = value(stream.id);
  ScaleShift step{type_for(std::min<std::int64_t>(factor, 0), std::max<std::int64_t>(factor, 0), 0),
                  Codes(at(codes.channels()), factor),
                  {}};
  if (shift != 0) step.shift.assign(at(codes.channels()), shift);
  const Interval sums = matrix_interval(step.scale, 1, step.shift, interval_of(codes.type));
  return emit_before(reader, suffix, std::move(step), {stream.id}, {sums, 0}, exactly(sums),
                     layout_of(stream));
}

namespace {

/// A sum of numerators, which the requantisation divides.
Accumulator over(Accumulator accumulator, const Exact& divisor) {
  if (signed_width(0, divisor.mantissa()) > stream_bits)
    throw Refusal{
        "the product of its scales has more than 62 bits; round one of the operands of "
        "its sum (data_in, pass quantize)"};
  return {accumulator.range, accumulator.frac + divisor.exponent(),
          static_cast<std::int64_t>(divisor.mantissa())};
}

}  // namespace

Lowering::LastStep Lowering::sum_steps(const Scaled& scaled, const Grid& grid,
                                       const ir::Node& reader, const std::string& port) {
  const auto codes = [&](const Scaled& of) {
    return interval_of(value(of.codes.id).type).high - interval_of(value(of.codes.id).type).low;
  };
  Scaled sum = scaled;
  const Scaled other{scaled.other->codes, {{scaled.other->factor}}};
  if (codes(sum) < codes(other)) {  // those of the second stream are looked at one by one
    sum.codes = scaled.other->codes;
    sum.other->codes = scaled.codes;
    std::swap(sum.lines[0].factor, sum.other->factor);
  }
  const Interval ends = ends_of(scaled, grid);
  const auto plane = rounding_plane(sum, value(sum.codes.id), value(sum.other->codes.id), grid);
  if (!plane) {
    sum = scaled;
    const Exact divisor = std::exchange(sum.lines[0].divisor, Exact(1.0));
    const StreamView whole = exact_stream(sum, reader, port);
    const FixedType& type = value(whole.id).type;
    const Accumulator accumulator = over({interval_of(type), type.frac}, divisor);
    Requantise requantise = to_grid(accumulator, grid);
    requantise.low = std::max(requantise.low, ends.low);
    requantise.high = std::max(requantise.low, std::min(requantise.high, ends.high));
    return {Cast{}, {whole.id}, accumulator, requantise};
  }
  const StreamView a =
      whole_multiple(sum.codes, plane->factor, plane->shift, reader, port + "_scale");
  const StreamView b = whole_multiple(sum.other->codes, plane->other, 0, reader, port + "_other");
  const auto [add, accumulator] = binary_step({*this, reader}, BinaryKind::add, a, b);
  return {add,
          {a.id, b.id},
          {accumulator.range, plane->bits + grid.type.frac},
          {plane->bits, 1, plane->rounding, ends.low, ends.high}};
}

Lowering::LastStep Lowering::rounding_steps(const Scaled& scaled, const Grid& grid,
                                            const ir::Node& reader, const std::string& port) {
  if (scaled.other) return sum_steps(scaled, grid, reader, port);
  RoundingStep step = rounding_step(scaled, value(scaled.codes.id), grid);
  return {std::move(step.operation), {scaled.codes.id}, step.accumulator, step.requantise};
}

StreamView Lowering::rounded_stream(const Scaled& scaled, const Grid& grid, const ir::Node& reader,
                                    const std::string& port) {
  LastStep step = rounding_steps(scaled, grid, reader, port);
  return emit_before(reader, port + "_round", std::move(step.operation), std::move(step.inputs),
                     step.accumulator, step.requantise, layout_of(scaled.codes));
}

Operand Lowering::settled(Scaled scaled, const ir::Node& node) {
  if (const auto grid = target(node)) {
    LastStep step = rounding_steps(scaled, *grid, node, "data_out");
    return emit(node, std::move(step.operation), std::move(step.inputs), step.accumulator,
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
  if (scaled.low || scaled.high || scaled.other) return exact_stream(scaled, node, "data_out");
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
  StreamValue& result = program_.values[at(stream.id)];
  result.scales = std::move(scales);
  // Sums are the node's result now; the codes of another node keep its name.
  if (!graph().find_node(result.name)) result.name = node.name;
  return stream;
}

namespace {

/// Whether two readers ask for the same codes.
bool ask_alike(const AskedStep& a, const AskedStep& b) {
  return a.step == b.step && a.grid.type == b.grid.type && a.grid.rounding == b.grid.rounding;
}

}  // namespace

bool Lowering::moves_codes(const ir::Node& node) const {
  if (node.kind == ir::NodeKind::output) return false;
  const LoweringRow* row = lowering_of(graph(), node);
  const auto is_tensor = [&](ir::NodeId input) { return graph().node(input).info.is_tensor(); };
  return row && row->commutes && keeps_factor(*row) && node.formats.empty() &&
         node.info.dtype == DType::float32 &&
         std::ranges::count_if(graph().inputs(node.id), is_tensor) == 1;
}

std::optional<AskedStep> Lowering::asked_by(const ir::Node& reader) const {
  if (moves_codes(reader)) return asked_step(reader);
  const ir::Value* by = reader.find("other");
  const auto asked = target(reader);
  if (ir::base_op(reader.op) != "aten::div" || !by || !by->is_number() || !asked)
    return std::nullopt;
  const double step = static_cast<float>(by->as_double());
  if (step <= 0 || has_input_formats(reader)) return std::nullopt;
  return AskedStep{step, *asked};
}

std::optional<AskedStep> Lowering::asked_step(const ir::Node& node) const {
  std::optional<AskedStep> common;
  for (const ir::NodeId user : graph().users(node.id)) {
    const ir::Node& reader = graph().node(user);
    if (is_host_value(reader)) continue;
    const auto asked = asked_by(reader);
    if (!asked || (common && !ask_alike(*common, *asked))) return std::nullopt;
    common = asked;
  }
  return common;
}

namespace {

/// Whether one of two operands is a number, which has no factor.
bool reads_number(const ir::Node& node) {
  return std::ranges::any_of(std::array{"self", "other"}, [&](const char* argument) {
    const ir::Value* value = node.find(argument);
    return value && value->is_number();
  });
}

/// The one line of all operands; nullopt where they have none, or several.
std::optional<ExactLine> line_of_all(const Lowering& lowering, const ir::Node& node) {
  std::optional<ExactLine> line;
  if (reads_number(node)) return line;
  for (const ir::NodeId input : lowering.graph().inputs(node.id)) {
    if (!lowering.graph().node(input).info.is_tensor()) continue;  // a size
    const Scaled* scaled = std::get_if<Scaled>(&lowering.operand(input));
    if (!scaled || !scaled->is_multiple()) return std::nullopt;
    const ExactLine& own = scaled->lines[0];
    if (line && !(line->factor == own.factor && line->divisor == own.divisor)) return std::nullopt;
    line = own;
  }
  return line;
}

/// The product of the lines of two operands, each of which may have codes or numbers; nullopt where
/// neither has codes, and for an operand that is not a stream.
std::optional<ExactLine> line_of_product(const Lowering& lowering, const ir::Node& node) {
  ExactLine line{Exact(1.0)};
  int streams = 0, scaled_ones = 0;
  bool fits = true;
  for (const ir::Argument& argument : node.args)
    argument.value.for_each_node([&](ir::NodeId input) {
      const Operand& operand = lowering.operand(input);
      const Scaled* scaled = std::get_if<Scaled>(&operand);
      fits = fits && (scaled ? scaled->is_multiple() : std::holds_alternative<StreamView>(operand));
      ++streams;
      if (!fits || !scaled) return;
      ++scaled_ones;
      line.factor = line.factor * scaled->lines[0].factor;
      line.divisor = line.divisor * scaled->lines[0].divisor;
    });
  if (!fits || streams != 2 || scaled_ones == 0) return std::nullopt;
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

/// Whether a layer has a weight with a format and a bias without one, which is added to the line.
bool has_float_bias(const Call& call) {
  if (!call.format("weight") || call.format("bias") || !call.has_tensor("bias")) return false;
  const Parameter* bias = call.parameter("bias");
  return !bias || !bias->format;
}

/// The line of the numbers that a layer reads as codes.
std::optional<ExactLine> line_of_layer(const Call& call) {
  const Scaled* input = call.scaled("input");
  if (input && input->is_multiple()) return input->lines[0];
  if (has_steps(call.node) || has_float_bias(call)) return ExactLine{Exact(1.0)};
  return std::nullopt;
}

}  // namespace

std::optional<Operand> Lowering::lowered_on_codes(const ir::Node& node, const LoweringRow& row) {
  const bool is_layer = row.factors == Factors::multiplied;
  const bool is_product = row.factors == Factors::products;
  if (reloadable() || !(is_layer || is_product || keeps_factor(row))) return std::nullopt;
  if (!is_layer && has_input_formats(node)) return std::nullopt;
  const auto line = is_layer     ? line_of_layer({*this, node})
                    : is_product ? line_of_product(*this, node)
                                 : line_of_all(*this, node);
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
