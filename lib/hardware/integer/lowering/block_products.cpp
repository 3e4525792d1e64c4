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

/// A stream of elements, and one of the exponents of its blocks.
struct Blocks {
  ValueId elements = -1, exponents = -1;
  BlockInput shape;
};

/// The blocks whose numbers a step makes; nullopt for numbers that are made otherwise.
std::optional<Blocks> blocks_behind(const Program& program, const Step& shift) {
  const auto* operation = std::get_if<BlockShift>(&shift.operation);
  const bool exact = shift.requantise.shift == 0 && shift.requantise.divisor == 1 &&
                     shift.requantise.low <= shift.low && shift.requantise.high >= shift.high;
  if (!operation || operation->right || !exact) return std::nullopt;
  const Step* repeat = maker_of(program, shift.inputs[1]);
  const auto* times = repeat ? std::get_if<Repeat>(&repeat->operation) : nullptr;
  if (!times) return std::nullopt;
  const ValueId exponents = repeat->inputs[0];
  const Step* maker = maker_of(program, exponents);
  if (!maker) return std::nullopt;
  return Blocks{
      shift.inputs[0], exponents, {times->count, static_cast<int>(maker->requantise.high)}};
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
    step.inputs = {blocks->elements, blocks->exponents};
    changed = true;
  }
  if (changed) drop_unread_steps(program);
}

}  // namespace mase::integer
