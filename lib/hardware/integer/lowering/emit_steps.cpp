// SPDX-License-Identifier: Apache-2.0
// Appending steps: requantisation, types, names, shared casts.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>
#include <tuple>

#include "hardware/integer/lowering/lowering.hpp"
#include "hardware/integer/lowering/masked.hpp"
#include "hardware/integer/lowering/quantize.hpp"

namespace mase::integer {
namespace {

/// Even divisors become shifts: the code is divided by divisor * 2^frac.
Accumulator with_odd_divisor(Accumulator accumulator) {
  while (accumulator.divisor % 2 == 0) {
    accumulator.divisor /= 2;
    ++accumulator.frac;
  }
  return accumulator;
}

bool changes_nothing(const Requantise& requantise, const FixedType& from, const FixedType& to) {
  return requantise.shift == 0 && requantise.divisor == 1 && from == to &&
         requantise.low <= from.low() && requantise.high >= from.high();
}

}  // namespace

Layout Lowering::layout_of(const StreamView& stream) const {
  Layout layout = stream.layout;
  layout.shape = value(stream.id).shape;
  return layout;
}

std::optional<Grid> Lowering::target(const ir::Node& node) const {
  if (on_codes_ && on_codes_->node == node.id) return std::nullopt;
  const auto out = node.formats.find("data_out");
  if (out != node.formats.end()) {
    Grid grid = grid_of(out->second);
    // A step of its own rounds to levels, behind the exact result.
    if (grid.levels || grid.blocks) return std::nullopt;
    return grid;
  }
  const Demand& demand = demands_.at(node.id);
  if (demand.kind == Demand::Kind::grid) return demand.grid;
  return std::nullopt;
}

namespace {

/// Whether a step may give its exact sums, however wide, to a requantisation behind it.
bool gives_exact_sums(const Operation& operation) {
  return std::visit(
      []<class Kind>(const Kind&) {
        return (std::same_as<Kind, Linear> || std::same_as<Kind, Convolution> ||
                std::same_as<Kind, ScaleShift> || std::same_as<Kind, Pool> ||
                std::same_as<Kind, Binary> || std::same_as<Kind, Matmul> ||
                std::same_as<Kind, RowReduce>);
      },
      operation);
}

/// Whether a step takes them: those that round each of them alone.
bool takes_exact_sums(const Operation& operation) {
  return std::holds_alternative<Cast>(operation) || std::holds_alternative<Quantize>(operation);
}

void check_widths(const Accumulator& accumulator, const Requantise& requantise,
                  int result_bits = stream_bits) {
  check_width(accumulator.range, accumulator_bits, "its accumulator");
  if (requantise.shift < 0)
    check_width(accumulator.range, accumulator_bits + requantise.shift, "its aligned accumulator");
  check_width({requantise.low, requantise.high}, result_bits, "its exact result");
}

/// A step without a name and an output: `append` gives it both.
Step step_for(Operation operation, std::vector<ValueId> inputs, const Accumulator& accumulator,
              const Requantise& requantise) {
  Step step;
  step.inputs = std::move(inputs);
  step.operation = std::move(operation);
  step.low = accumulator.range.low;
  step.high = accumulator.range.high;
  step.frac = accumulator.frac;
  step.requantise = requantise;
  return step;
}

}  // namespace

StreamView Lowering::emit(const ir::Node& node, Operation operation, std::vector<ValueId> inputs,
                          Accumulator accumulator, Layout layout, const std::string& suffix) {
  if (OnCodes* codes = on_codes(node)) {
    codes->divisor *= accumulator.divisor;
    accumulator.divisor = 1;
  }
  accumulator = with_odd_divisor(accumulator);
  const auto grid = target(node);
  if (grid)
    return emit(node, std::move(operation), std::move(inputs), accumulator,
                to_grid(accumulator, *grid), grid->type.frac, std::move(layout), suffix);
  if (accumulator.divisor != 1) {
    if (asked_levels(node) || asked_blocks(node))
      return emit_fraction(node, std::move(operation), std::move(inputs), accumulator,
                           std::move(layout));
    refuse_grid(node,
                "its result is a fraction that no binary code has; give it a data_out format, or "
                "all its readers the same data_in format (pass quantize)");
  }
  return emit(node, std::move(operation), std::move(inputs), accumulator,
              exactly(accumulator.range), accumulator.frac, std::move(layout), suffix);
}

StreamView Lowering::emit_fraction(const ir::Node& node, Operation operation,
                                   std::vector<ValueId> inputs, const Accumulator& accumulator,
                                   Layout layout) {
  const auto format = asked_blocks(node);
  const bool wide = !format && gives_exact_sums(operation);
  check_width(accumulator.range, wide ? accumulator_bits : stream_bits, "its accumulator");
  const StreamView whole = emit_accumulators(node, std::move(operation), std::move(inputs),
                                             accumulator, std::move(layout));
  if (format) return fraction_in_blocks(whole, accumulator.divisor, *format, node);
  const std::shared_ptr<const Levels> levels = asked_levels(node);
  return append_quantize(
      whole, quantize_step(*levels, accumulator.range, accumulator.frac, accumulator.divisor),
      levels, node, "data_out");
}

StreamView Lowering::emit(const ir::Node& node, Operation operation, std::vector<ValueId> inputs,
                          const Accumulator& accumulator, const Requantise& requantise, int frac,
                          Layout layout, const std::string& suffix) {
  // What has a suffix is followed by other steps of the node.
  const bool wide = suffix.empty() && gives_exact_sums(operation);
  check_widths(accumulator, requantise, wide ? accumulator_bits : stream_bits);
  Step step = step_for(std::move(operation), std::move(inputs), accumulator, requantise);
  const FixedType type = type_for(requantise.low, requantise.high, frac);
  const std::string name = suffix.empty() ? node.name : unique_name(node.name + "_" + suffix);
  return append(name, node, std::move(step), type, std::move(layout), node.name);
}

StreamView Lowering::emit_accumulators(const ir::Node& node, Operation operation,
                                       std::vector<ValueId> inputs, const Accumulator& accumulator,
                                       Layout layout) {
  Step step =
      step_for(std::move(operation), std::move(inputs), accumulator, exactly(accumulator.range));
  const FixedType type = type_for(step.low, step.high, step.frac);
  return append(node.name, node, std::move(step), type, std::move(layout),
                unique_name(node.name + "_accumulators"));
}

StreamView Lowering::emit_first(const ir::Node& node, Operation operation, const StreamView& stream,
                                const Accumulator& accumulator, Layout layout,
                                const std::string& what) {
  const auto grid = target(node);
  const Requantise requantise = grid ? to_grid(accumulator, *grid) : exactly(accumulator.range);
  check_widths(accumulator, requantise);
  Step step = step_for(std::move(operation), {stream.id}, accumulator, requantise);
  const FixedType type =
      type_for(requantise.low, requantise.high, grid ? grid->type.frac : accumulator.frac);
  return append(node.name, node, std::move(step), type, std::move(layout),
                unique_name(node.name + "_" + what));
}

std::shared_ptr<const Levels> Lowering::levels_behind(const Step& step) const {
  const std::shared_ptr<const Levels>& first = value(step.inputs[0]).levels;
  if (!first) return nullptr;
  const auto same = [&](ValueId input) {
    const Levels* other = levels(input);
    return other && *other == *first;
  };
  return std::ranges::all_of(step.inputs, same) && keeps_levels(step, *first) ? first : nullptr;
}

void Lowering::check_stream(ValueId id) const {
  const StreamValue& read = value(id);
  const int bits = signed_width(read.type.low(), read.type.high());
  if (bits > stream_bits)
    throw Refusal{"the exact result '" + read.name + "' needs " + std::to_string(bits) +
                  " bits, more than " + std::to_string(stream_bits) +
                  ", and nothing rounds it here; give '" + read.name +
                  "' a data_out format (pass quantize), or formats with fewer bits of exponent"};
}

StreamView Lowering::append(const std::string& name, const ir::Node& node, Step step,
                            FixedType type, Layout layout, const std::string& value_name) {
  for (const ValueId input : step.inputs)
    if (!takes_exact_sums(step.operation)) check_stream(input);
  step.name = name;
  step.layer = node.name;
  step.output = static_cast<ValueId>(program_.values.size());
  StreamValue value;
  value.name = value_name;
  value.type = type;
  value.shape = layout.shape;
  value.torch_shape = layout.torch_shape;
  value.order = compact(layout.order);
  if (only_moves(step.operation))
    for (const ValueId input : step.inputs)
      if (const Masked* masks = masked(input)) set_masked(step.output, *masks);
  value.levels = levels_behind(step);
  program_.values.push_back(std::move(value));
  program_.steps.push_back(std::move(step));
  return {program_.steps.back().output, std::move(layout)};
}

StreamView Lowering::append_for(const ir::Node& reader, const std::string& suffix,
                                Operation operation, std::vector<ValueId> inputs,
                                const Accumulator& accumulator, const Requantise& requantise,
                                const FixedType& type, Layout layout) {
  Step step = step_for(std::move(operation), std::move(inputs), accumulator, requantise);
  const std::string name = unique_name(reader.name + "_" + suffix);
  return append(name, reader, std::move(step), type, std::move(layout), name);
}

StreamView Lowering::emit_before(const ir::Node& node, const std::string& suffix,
                                 Operation operation, std::vector<ValueId> inputs,
                                 const Accumulator& accumulator, const Requantise& requantise,
                                 Layout layout) {
  check_width(accumulator.range, stream_bits, "its accumulator");
  const FixedType type =
      type_for(requantise.low, requantise.high, accumulator.frac - requantise.shift);
  return append_for(node, suffix, std::move(operation), std::move(inputs), accumulator, requantise,
                    type, std::move(layout));
}

StreamView Lowering::add_cast(const StreamView& stream, const Requantise& requantise,
                              const FixedType& type, const ir::Node& reader,
                              const std::string& port) {
  if (requantise.shift < 0)
    check_width(interval_of(value(stream.id).type), accumulator_bits + requantise.shift,
                "its aligned input");
  const FixedType& from = value(stream.id).type;
  return append_for(reader, port + "_cast", Cast{}, {stream.id}, {interval_of(from), from.frac},
                    requantise, type, layout_of(stream));
}

StreamView Lowering::reordered(const StreamView& stream, const Layout& wanted,
                               const ir::Node& reader, const std::string& port) {
  if (stream.layout.order == wanted.order) return stream;
  std::vector<std::int64_t> all(wanted.order.size());
  std::iota(all.begin(), all.end(), 0);
  return moved(stream, all, wanted, reader, port + "_reorder");
}

StreamView Lowering::moved(const StreamView& stream, const std::vector<std::int64_t>& source,
                           const Layout& wanted, const ir::Node& reader,
                           const std::string& suffix) {
  const FixedType type = value(stream.id).type;
  return append_for(reader, suffix, gather_between(stream.layout, source, wanted), {stream.id},
                    {interval_of(type), type.frac}, unchanged(type), type, wanted);
}

StreamView Lowering::cast(const StreamView& stream, const Grid& grid, const ir::Node& reader,
                          const std::string& port) {
  const FixedType from = value(stream.id).type;
  if (grid.levels) return quantized(stream, grid.levels, reader, port);
  if (grid.blocks) return in_blocks(stream, *grid.blocks, reader, port);
  if (masked(stream.id)) return masked_on({*this, reader}, stream, grid, port);
  if (holds(grid.type, from)) return stream;
  const auto key = std::tuple(stream.id, grid.type.width, grid.type.frac, grid.type.is_signed,
                              static_cast<int>(grid.rounding));
  const auto known = casts_.find(key);
  if (known != casts_.end()) return {known->second, stream.layout};
  const Requantise requantise = to_grid({interval_of(from), from.frac}, grid);
  const FixedType type = type_for(requantise.low, requantise.high, grid.type.frac);
  StreamView result = add_cast(stream, requantise, type, reader, port);
  casts_[key] = result.id;
  return result;
}

std::shared_ptr<const Levels> Lowering::asked_levels(const ir::Node& node) const {
  if (on_codes_ && on_codes_->node == node.id) return nullptr;
  const auto out = node.formats.find("data_out");
  return out != node.formats.end() ? grid_of(out->second).levels : demands_.at(node.id).levels;
}

std::optional<formats::Format> Lowering::asked_blocks(const ir::Node& node) const {
  if (on_codes_ && on_codes_->node == node.id) return std::nullopt;
  const auto out = node.formats.find("data_out");
  return out != node.formats.end() ? grid_of(out->second).blocks : demands_.at(node.id).blocks;
}

const Levels* Lowering::levels(ValueId id) const { return value(id).levels.get(); }

StreamView Lowering::quantized(const StreamView& stream,
                               const std::shared_ptr<const Levels>& levels, const ir::Node& reader,
                               const std::string& port) {
  const FixedType from = value(stream.id).type;
  const Levels* known = this->levels(stream.id);
  if ((known && *known == *levels) || levels->hold(from)) return stream;
  if (masked(stream.id)) throw Refusal{no_masks(levels->format)};
  const auto key = std::pair(stream.id, levels->format);
  const auto made = quantized_.find(key);
  if (made != quantized_.end()) return {made->second, stream.layout};
  const StreamView result = append_quantize(
      stream, quantize_step(*levels, interval_of(from), from.frac), levels, reader, port);
  quantized_[key] = result.id;
  return result;
}

StreamView Lowering::append_quantize(const StreamView& stream, Quantize step,
                                     const std::shared_ptr<const Levels>& levels,
                                     const ir::Node& reader, const std::string& port) {
  const FixedType type = type_for(step.levels.front(), step.levels.back(), levels->type.frac);
  // One level alone is the result of a clamp.
  const Requantise only{value(stream.id).type.frac - type.frac, 1, formats::Rounding::nearest_even,
                        step.levels.front(), step.levels.front()};
  const StreamView result =
      step.thresholds.empty()
          ? add_cast(stream, only, type, reader, port)
          : append_for(reader, port + "_quantize", std::move(step), {stream.id},
                       {interval_of(type), type.frac}, unchanged(type), type, layout_of(stream));
  set_levels(result.id, levels);
  return result;
}

StreamView Lowering::widened(const StreamView& stream, const FixedType& type,
                             const ir::Node& reader) {
  const FixedType from = value(stream.id).type;
  const Requantise requantise =
      to_grid({interval_of(from), from.frac}, {type, formats::Rounding::nearest_even});
  if (changes_nothing(requantise, from, type)) return stream;
  return add_cast(stream, requantise, type, reader, "data_in");
}

}  // namespace mase::integer
