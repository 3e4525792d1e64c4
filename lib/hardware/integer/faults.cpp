// SPDX-License-Identifier: Apache-2.0
// Constants of steps, one bit of them flipped, and the frames that tell the difference.
#include "hardware/integer/faults.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/integer/program/bounds.hpp"
#include "hardware/integer/steps/step_operation.hpp"

namespace mase::integer {
namespace {

/// Frames that are run before the outputs are looked at: most faults show in the first ones.
constexpr std::int64_t chunk = 16;

/// `number` with a bit of its `width` flipped; a width of signed numbers is two's complement.
Wide with_flipped_bit(Wide number, int bit, int width, bool is_signed) {
  const Wide range = Wide{1} << width;
  Wide bits = ((number % range) + range) % range;
  bits ^= Wide{1} << bit;
  return is_signed && bits >= range / 2 ? bits - range : bits;
}

/// Calls `see` with every list of constants of a step, of which there is one of a kind.
template <class Step, class See>
void for_each_list(const Program& program, Step& step, See&& see) {
  const FixedType& output = program.value(step.output).type;
  std::visit([&](auto& operation) { operation.constants(operation, output, see); }, step.operation);
}

/// The number whose short code has one bit flipped; the number itself where no code of weights has.
std::int64_t with_flipped_bit(std::int64_t number, int bit, const FloatCode& code) {
  const auto flipped = static_cast<std::int64_t>(
      with_flipped_bit(code.code(number).value(), bit, code.width, code.is_signed));
  return code.occurs(flipped) ? code.number(flipped) : number;
}

template <class List>
void flip(const ConstantList<List>& list, const ConstantBit& bit) {
  auto& code = list.codes[at(bit.index)];
  if (list.code) {
    code = static_cast<typename List::value_type>(
        with_flipped_bit(static_cast<std::int64_t>(code), bit.bit, *list.code));
    return;
  }
  code = static_cast<typename List::value_type>(
      with_flipped_bit(code, bit.bit, list.width, list.is_signed));
}

/// Every partial sum of the step with its constants as they are now. Bounds of constants that may
/// be replaced hold for all of them.
void renew_bounds(const Program& program, Step& step) {
  const Interval input =
      blocks_of(step.operation).numbers(interval_of(program.value(step.inputs[0]).numbers()));
  const auto renewed = std::visit(
      [&]<class One>(const One& operation) -> std::optional<Interval> {
        if constexpr (!StepWithoutConstants<One>)
          if (!One::replaceable || program.contents == Contents::fixed)
            return operation.bounds(input);
        return std::nullopt;
      },
      step.operation);
  if (!renewed) return;
  step.low = renewed->low;
  step.high = renewed->high;
}

std::span<const std::int64_t> frames_of(const Codes& codes, std::int64_t frames, std::int64_t first,
                                        std::int64_t count) {
  const std::size_t elements = codes.size() / at(frames);
  return std::span(codes).subspan(at(first) * elements, at(count) * elements);
}

/// The first frame in which two results differ, or -1.
std::int64_t first_difference(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                              std::int64_t frames) {
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin()).first;
  return differs == a.end() ? -1 : (differs - a.begin()) * frames / std::ssize(a);
}

}  // namespace

ConstantBits::ConstantBits(const Program& program) {
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    for_each_list(program, program.steps[s], [&](const auto& list) {
      const std::int64_t bits = std::ssize(list.codes) * list.width;
      if (bits == 0) return;
      runs_.push_back({s, list.kind, list.width, count_, bits});
      count_ += bits;
    });
}

ConstantBit ConstantBits::Run::at(std::int64_t place) const {
  return {step, kind, place / width, static_cast<int>(place % width)};
}

ConstantBit ConstantBits::draw(Random& random) const {
  MASE_CHECK(count_ > 0, "a program without constants");
  const auto number = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count_)));
  const Run& run = *std::prev(std::ranges::upper_bound(runs_, number, {}, &Run::first));
  return run.at(number - run.first);
}

ConstantBit ConstantBits::draw_evenly(Random& random) const {
  MASE_CHECK(count_ > 0, "a program without constants");
  const Run& run = runs_[random.below(runs_.size())];
  return run.at(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(run.bits))));
}

Step flipped(const Program& program, const ConstantBit& bit) {
  Step step = program.steps[bit.step];
  for_each_list(program, step, [&](const auto& list) {
    if (list.kind == bit.kind) flip(list, bit);
  });
  renew_bounds(program, step);
  return step;
}

FaultSimulator::FaultSimulator(Program program) : interpreter_(std::move(program)) {}

std::int64_t FaultSimulator::shown_by(const ConstantBit& bit, const std::vector<Codes>& inputs,
                                      const std::vector<Codes>& outputs, std::int64_t frames) {
  Step sound = program().steps[bit.step];
  interpreter_.set_step(bit.step, flipped(program(), bit));
  std::int64_t shown = -1;
  for (std::int64_t first = 0; first < frames && shown < 0; first += chunk) {
    const std::int64_t count = std::min(chunk, frames - first);
    std::vector<Codes> part;
    for (const Codes& codes : inputs) {
      const auto taken = frames_of(codes, frames, first, count);
      part.emplace_back(taken.begin(), taken.end());
    }
    const std::vector<Codes> results = interpreter_.run(part, count);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::int64_t found =
          first_difference(results[i], frames_of(outputs[i], frames, first, count), count);
      if (found >= 0 && (shown < 0 || first + found < shown)) shown = first + found;
    }
  }
  interpreter_.set_step(bit.step, std::move(sound));
  return shown;
}

}  // namespace mase::integer
