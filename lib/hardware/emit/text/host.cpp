// SPDX-License-Identifier: Apache-2.0
// The C header that tells the host's driver what the streams of a design are.
#include "hardware/emit/text/axi.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "base/text.hpp"
#include "hardware/emit/text/templates.hpp"
#include "hardware/integer/block_levels.hpp"

namespace mase::emit {
namespace {

/// The tensor's order of a stream, where it is another than the stream's.
const std::vector<std::int64_t>* order_of(const design::Design& design, design::StreamId id) {
  const integer::ValueId value = design.stream(id).value;
  if (!design.program || value < 0) return nullptr;
  const std::vector<std::int64_t>& order = design.program->value(value).order;
  return order.empty() ? nullptr : &order;
}

/// What the host multiplies numbers of a stream by; empty: nothing.
std::vector<double> scales_of(const design::Design& design, design::StreamId id) {
  const integer::ValueId value = design.stream(id).value;
  if (!design.program || value < 0) return {};
  return design.program->value(value).scales;
}

/// The place of an input among those of the program; none of another stream.
std::optional<std::size_t> input_of(const design::Design& design, design::StreamId id) {
  if (!design.program) return std::nullopt;
  const auto& inputs = design.program->inputs;
  const auto found = std::find(inputs.begin(), inputs.end(), design.stream(id).value);
  if (found == inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - inputs.begin());
}

/// As mase_host.h numbers the modes.
int rounding_of(const design::Design& design, design::StreamId id) {
  const auto input = input_of(design, id);
  const auto rounding =
      input ? design.program->input_rounding[*input] : formats::Rounding::nearest_even;
  if (rounding == formats::Rounding::floor) return 1;
  return rounding == formats::Rounding::nearest_away ? 2 : 0;
}

/// Codes below those of numbers.
std::int64_t mask_codes(const design::Design& design, design::StreamId id) {
  const auto input = input_of(design, id);
  if (!input || !design.program->input_masks[*input]) return 0;
  return *design.program->input_masks[*input] -
         static_cast<std::int64_t>(design.stream(id).type.low());
}

std::string order_name(const std::string& stream) { return "mase_order_" + stream; }

std::string list_text(const std::string& name, const std::vector<std::int64_t>& numbers) {
  std::string text = "static const uint32_t " + name + "[] = {";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i % 16 == 0 ? "\n    " : " ") + std::to_string(numbers[i]) + ",";
  return text + "};\n";
}

/// As C reads it back: exactly.
std::string number_text(float number) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%aF", number);
  return text.data();
}

std::string scales_name(const std::string& stream) { return "mase_scales_" + stream; }

std::string scales_text(const std::string& stream, const std::vector<double>& scales) {
  std::vector<std::string> numbers;
  for (const double scale : scales) numbers.push_back(double_text(scale));
  return "static const double " + scales_name(stream) + "[] = {" + join(numbers, ", ") + "};\n";
}

/// A row of the batch of an input that has a format with blocks, and that format's levels.
struct Blocks {
  Shape shape;
  std::shared_ptr<const integer::BlockLevels> levels;
};

std::optional<Blocks> blocks_of(const design::Design& design, design::StreamId id) {
  const auto input = input_of(design, id);
  if (!input || !design.program->input_blocks[*input]) return std::nullopt;
  Shape shape = design.program->value(design.stream(id).value).torch_shape;
  shape.insert(shape.begin(), 1);
  auto levels = integer::block_levels_of(*design.program->input_blocks[*input]);
  return Blocks{std::move(shape), std::move(levels)};
}

std::string blocks_name(const std::string& stream) { return "mase_blocks_" + stream; }

std::string turns_text(const std::string& name, const integer::BlockLevels& levels) {
  std::vector<std::string> turns;
  for (const auto& [elements, turn] : levels.mantissas)
    turns.push_back("{" + number_text(turn.at) + ", " + (turn.included ? "0" : "1") + "}");
  return "static const mase_turn " + name + "[] = {" + join(turns, ", ") + "};\n";
}

std::string blocks_text(const std::string& stream, const Blocks& blocks) {
  std::vector<std::int64_t> elements, ends;
  for (const auto& block : integer::blocks_of(blocks.levels->format, blocks.shape)) {
    elements.insert(elements.end(), block.begin(), block.end());
    ends.push_back(std::ssize(elements));
  }
  const integer::BlockLevels& levels = *blocks.levels;
  const std::string name = blocks_name(stream);
  const std::vector<std::string> members{name + "_elements",
                                         name + "_ends",
                                         std::to_string(ends.size()),
                                         std::to_string(levels.least),
                                         std::to_string(levels.greatest),
                                         std::to_string(levels.mantissas.size()),
                                         name + "_turns"};
  return list_text(name + "_elements", elements) + list_text(name + "_ends", ends) +
         turns_text(name + "_turns", levels) + "static const mase_blocks " + name + " = {" +
         join(members, ", ") + "};\n";
}

/// The levels of an input in a format of elements, or of each mantissa in one with blocks; empty
/// for fixed point and for outputs.
std::vector<std::shared_ptr<const integer::Levels>> levels_of(const design::Design& design,
                                                              design::StreamId id) {
  std::vector<std::shared_ptr<const integer::Levels>> levels;
  if (const auto blocks = blocks_of(design, id)) {
    for (const auto& mantissa : blocks->levels->mantissas)
      levels.emplace_back(blocks->levels, &mantissa.elements);
    return levels;
  }
  const auto input = input_of(design, id);
  if (input && design.program->input_levels[*input])
    levels.push_back(design.program->input_levels[*input]);
  return levels;
}

std::string levels_name(const std::string& stream) { return "mase_levels_" + stream; }

std::string level_row(const std::string& from, bool beyond, std::int64_t code) {
  return "    {" + from + ", " + (beyond ? "1" : "0") + ", " + std::to_string(code) + "},\n";
}

std::string level_rows(const integer::StreamValue& value, const integer::Levels& levels) {
  const auto code = [&](std::int64_t level) {
    return value.code ? value.code->code(level).value() : level;
  };
  std::string text = level_row("0", false, code(levels.codes.front()));
  for (std::size_t i = 0; i < levels.thresholds.size(); ++i) {
    const integer::Threshold& threshold = levels.thresholds[i];
    text += level_row(number_text(threshold.at), !threshold.included, code(levels.codes[i + 1]));
  }
  return text;
}

/// Nothing where a stream has no levels.
std::string levels_text(const design::Design& design, const std::string& stream,
                        design::StreamId id) {
  const auto levels = levels_of(design, id);
  if (levels.empty()) return "";
  std::string text = "static const mase_level " + levels_name(stream) + "[] = {\n";
  for (const auto& one : levels)
    text += level_rows(design.program->value(design.stream(id).value), *one);
  return text + "};\n";
}

std::string row(const design::Design& design, const Names& names, const EmitOptions& options,
                design::StreamId id) {
  const design::Stream& stream = design.stream(id);
  const AxiLayout layout = axi_layout(stream, options);
  const std::string& name = names.streams[static_cast<std::size_t>(id)];
  const auto levels = levels_of(design, id);
  const auto scales = scales_of(design, id);
  const std::size_t level_count = levels.empty() ? 0 : levels[0]->codes.size();
  const std::vector<std::string> members = {"\"" + name + "\"",
                                            std::to_string(stream.beats()),
                                            std::to_string(stream.lanes),
                                            std::to_string(stream.type.width),
                                            std::to_string(layout.lane_bits),
                                            std::to_string(layout.bytes),
                                            stream.type.is_signed ? "1" : "0",
                                            std::to_string(stream.type.frac),
                                            std::to_string(rounding_of(design, id)),
                                            order_of(design, id) ? order_name(name) : "0",
                                            std::to_string(mask_codes(design, id)),
                                            levels.empty() ? "0" : levels_name(name),
                                            std::to_string(level_count),
                                            blocks_of(design, id) ? "&" + blocks_name(name) : "0",
                                            scales.empty() ? "0" : scales_name(name),
                                            std::to_string(scales.size())};
  return "    {" + join(members, ", ") + "},\n";
}

}  // namespace

std::string host_header(const design::Design& design, const Names& names,
                        const EmitOptions& options, const std::string& number) {
  std::string orders, levels, inputs, outputs;
  for (const auto* side : {&design.inputs, &design.outputs})
    for (const design::StreamId id : *side) {
      const std::string& name = names.streams[static_cast<std::size_t>(id)];
      if (const auto* order = order_of(design, id)) orders += list_text(order_name(name), *order);
      levels += levels_text(design, name, id);
      if (const auto scales = scales_of(design, id); !scales.empty())
        levels += scales_text(name, scales);
      if (const auto blocks = blocks_of(design, id)) levels += blocks_text(name, *blocks);
      (side == &design.inputs ? inputs : outputs) += row(design, names, options, id);
    }
  return filled(template_text("host/host.h"), {{"TOP", names.top},
                                               {"NUMBER", number},
                                               {"INPUTS", std::to_string(design.inputs.size())},
                                               {"OUTPUTS", std::to_string(design.outputs.size())},
                                               {"ORDERS", orders},
                                               {"LEVELS", levels},
                                               {"INPUT_ROWS", inputs},
                                               {"OUTPUT_ROWS", outputs}});
}

}  // namespace mase::emit
