// SPDX-License-Identifier: Apache-2.0
// ConstantTable of steps, one bit of them flipped, and the frames that tell the difference.
#include "hardware/integer/faults.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/integer/bounds.hpp"
#include "hardware/integer/piecewise.hpp"

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

struct ConstantTable {
  ConstantKind kind;
  std::int64_t count = 0;
  int width = 0;
  bool is_signed = true;
};

ConstantTable factors(const Codes& codes, const FixedType& type) {
  return {ConstantKind::factor, static_cast<std::int64_t>(codes.size()), type.width,
          type.is_signed};
}

/// `width`: of all that may come, or 0.
ConstantTable summands(const std::vector<Wide>& codes, int width) {
  return {ConstantKind::summand, static_cast<std::int64_t>(codes.size()),
          width > 0 ? width : codes_width(codes), true};
}

/// As wide as mase_channel_shift reads them.
ConstantTable distances(const std::vector<int>& left) {
  const std::vector<Wide> codes(left.begin(), left.end());
  return {ConstantKind::factor, static_cast<std::int64_t>(left.size()), codes_width(codes) - 1,
          false};
}

std::vector<ConstantTable> constants_of(const Program& program, const Step& step) {
  if (const auto* linear = std::get_if<Linear>(&step.operation))
    return {factors(linear->weight, linear->weight_type),
            summands(linear->bias, linear->bias_width)};
  if (const auto* convolution = std::get_if<Convolution>(&step.operation))
    return {factors(convolution->weight, convolution->weight_type),
            summands(convolution->bias, convolution->bias_width)};
  if (const auto* scale = std::get_if<ScaleShift>(&step.operation))
    return {factors(scale->scale, scale->scale_type), summands(scale->shift, scale->shift_width)};
  if (const auto* pieces = std::get_if<Piecewise>(&step.operation))
    return {factors(pieces->slope, pieces->slope_type), summands(pieces->base, 0)};
  if (const auto* shift = std::get_if<ChannelShift>(&step.operation))
    return {distances(shift->left)};
  const auto entries = [&](const Codes& codes) -> std::vector<ConstantTable> {
    const FixedType& type = program.value(step.output).type;
    return {
        {ConstantKind::entry, static_cast<std::int64_t>(codes.size()), type.width, type.is_signed}};
  };
  if (const auto* insert = std::get_if<Insert>(&step.operation)) return entries(insert->codes);
  if (const auto* table = std::get_if<Embedding>(&step.operation)) return entries(table->table);
  const auto* lookup = std::get_if<Lookup>(&step.operation);
  if (lookup && !lookup->external) return entries(lookup->table);
  return {};
}

/// Every partial sum of the step with its constants as they are now. Bounds of constants that may
/// be replaced hold for all of them.
void renew_bounds(const Program& program, Step& step) {
  if (program.contents == Contents::reloadable &&
      !std::holds_alternative<ChannelShift>(step.operation) &&
      !std::holds_alternative<Piecewise>(step.operation))
    return;
  const Interval input = interval_of(program.value(step.inputs[0]).type);
  Interval range{step.low, step.high};
  if (const auto* linear = std::get_if<Linear>(&step.operation))
    range = matrix_interval(linear->weight, linear->inputs, linear->bias, input);
  if (const auto* convolution = std::get_if<Convolution>(&step.operation))
    range = matrix_interval(convolution->weight, convolution->columns(), convolution->bias, input);
  if (const auto* scale = std::get_if<ScaleShift>(&step.operation))
    range = matrix_interval(scale->scale, 1, scale->shift, input);
  if (const auto* shift = std::get_if<ChannelShift>(&step.operation))
    range = shifted(input, std::ranges::max(shift->left));
  if (const auto* pieces = std::get_if<Piecewise>(&step.operation))
    range = accumulators_of(*pieces);
  step.low = range.low;
  step.high = range.high;
}

template <class Codes>
void flip(Codes& codes, const ConstantBit& bit, const ConstantTable& table) {
  auto& code = codes[at(bit.index)];
  code = static_cast<typename Codes::value_type>(
      with_flipped_bit(code, bit.bit, table.width, table.is_signed));
}

void flip(Step& step, const ConstantBit& bit, const ConstantTable& table) {
  const bool factor = bit.kind == ConstantKind::factor;
  if (auto* linear = std::get_if<Linear>(&step.operation))
    factor ? flip(linear->weight, bit, table) : flip(linear->bias, bit, table);
  if (auto* convolution = std::get_if<Convolution>(&step.operation))
    factor ? flip(convolution->weight, bit, table) : flip(convolution->bias, bit, table);
  if (auto* scale = std::get_if<ScaleShift>(&step.operation))
    factor ? flip(scale->scale, bit, table) : flip(scale->shift, bit, table);
  if (auto* pieces = std::get_if<Piecewise>(&step.operation))
    factor ? flip(pieces->slope, bit, table) : flip(pieces->base, bit, table);
  if (auto* shift = std::get_if<ChannelShift>(&step.operation)) flip(shift->left, bit, table);
  if (auto* lookup = std::get_if<Lookup>(&step.operation)) flip(lookup->table, bit, table);
  if (auto* insert = std::get_if<Insert>(&step.operation)) flip(insert->codes, bit, table);
  if (auto* rows = std::get_if<Embedding>(&step.operation)) flip(rows->table, bit, table);
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
    for (const ConstantTable& table : constants_of(program, program.steps[s])) {
      const std::int64_t bits = table.count * table.width;
      if (bits == 0) continue;
      runs_.push_back({s, table.kind, table.width, count_, bits});
      count_ += bits;
    }
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
  for (const ConstantTable& table : constants_of(program, step))
    if (table.kind == bit.kind) flip(step, bit, table);
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
