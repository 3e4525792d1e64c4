// SPDX-License-Identifier: Apache-2.0
// Finding products of blocks in a program.
#include "hardware/integer/lowering/block_products.hpp"

#include <algorithm>
#include <optional>

namespace mase::integer {
namespace {

const Step* maker_of(const Program& program, ValueId id) {
  const auto made = std::ranges::find(program.steps, id, &Step::output);
  return made == program.steps.end() ? nullptr : &*made;
}

/// A stream of elements, and one of the scales of its blocks.
struct Blocks {
  ValueId elements = -1, scales = -1;
  BlockInput shape;
};

/// A stream that gives each element what follows from its block, once for each block.
struct Repeated {
  ValueId once = -1;
  std::int64_t length = 0;
  const Step* maker = nullptr;
};

std::optional<Repeated> repeated_behind(const Program& program, ValueId id) {
  const Step* repeat = maker_of(program, id);
  const auto* times = repeat ? std::get_if<Repeat>(&repeat->operation) : nullptr;
  if (!times) return std::nullopt;
  const ValueId once = repeat->inputs[0];
  const Step* maker = maker_of(program, once);
  if (!maker) return std::nullopt;
  return Repeated{once, times->count, maker};
}

bool is_table(const Repeated& repeated) {
  return std::holds_alternative<Lookup>(repeated.maker->operation);
}

/// The elements that are multiplied by factors, where these and the exponents of their blocks are
/// the two parts of scales; otherwise those that are shifted.
Blocks with_factors(const Program& program, const Repeated& exponents, Blocks blocks) {
  const Step* product = maker_of(program, blocks.elements);
  const auto* binary = product ? std::get_if<Binary>(&product->operation) : nullptr;
  if (!binary || binary->kind != BinaryKind::multiply || !is_table(exponents)) return blocks;
  const auto factors = repeated_behind(program, product->inputs[1]);
  const ValueId scales = exponents.maker->inputs[0];
  if (!factors || !is_table(*factors) || factors->maker->inputs[0] != scales) return blocks;
  blocks.elements = product->inputs[0];
  blocks.scales = scales;
  blocks.shape.exponent_bits = program.value(exponents.once).type.width;
  blocks.shape.most_factor = static_cast<std::int64_t>(factors->maker->requantise.high);
  return blocks;
}

/// The blocks whose numbers a step makes; nullopt for numbers that are made otherwise.
std::optional<Blocks> blocks_behind(const Program& program, const Step& shift) {
  const auto* operation = std::get_if<BlockShift>(&shift.operation);
  const bool exact = shift.requantise.shift == 0 && shift.requantise.divisor == 1 &&
                     shift.requantise.low <= shift.low && shift.requantise.high >= shift.high;
  if (!operation || operation->right || !exact) return std::nullopt;
  const auto exponents = repeated_behind(program, shift.inputs[1]);
  if (!exponents) return std::nullopt;
  const auto most = static_cast<int>(exponents->maker->requantise.high);
  return with_factors(program, *exponents,
                      {shift.inputs[0], exponents->once, {exponents->length, most}});
}

/// Where a product that can read blocks of a length says so; null for other steps.
BlockInput* blocks_taken(Operation& operation, std::int64_t length) {
  if (auto* linear = std::get_if<Linear>(&operation))
    return linear->inputs % length == 0 ? &linear->blocks : nullptr;
  auto* convolution = std::get_if<Convolution>(&operation);
  const bool fits =
      convolution && !convolution->is_depthwise() && convolution->taps() % length == 0;
  return fits ? &convolution->blocks : nullptr;
}

void drop_unread_steps(Program& program) {
  const auto unread = [&](const Step& step) {
    return program.consumers(step.output).empty() &&
           std::ranges::find(program.outputs, step.output) == program.outputs.end();
  };
  while (std::erase_if(program.steps, unread) > 0) {
  }
}

}  // namespace

void multiply_blocks(Program& program) {
  bool changed = false;
  for (Step& step : program.steps) {
    const Step* shift = step.inputs.size() == 1 ? maker_of(program, step.inputs[0]) : nullptr;
    const auto blocks = shift ? blocks_behind(program, *shift) : std::nullopt;
    BlockInput* taken = blocks ? blocks_taken(step.operation, blocks->shape.length) : nullptr;
    if (!taken) continue;
    *taken = blocks->shape;
    step.inputs = {blocks->elements, blocks->scales};
    changed = true;
  }
  if (changed) drop_unread_steps(program);
}

}  // namespace mase::integer
