// SPDX-License-Identifier: Apache-2.0
// Lines of scaled streams, and the step that rounds them.
#include "hardware/integer/lowering/scaled.hpp"

#include <algorithm>
#include <utility>

namespace mase::integer {
namespace {

/// Gives every channel a line of its own where constants differ; false where they do not fit.
bool spread(Scaled& scaled, std::size_t constants) {
  std::vector<ExactLine>& lines = scaled.lines;
  if (scaled.other && constants > 1) return false;
  if (constants > 1 && lines.size() == 1) lines.resize(constants, lines[0]);
  return constants == 1 || lines.size() == constants;
}

/// Whether an end stays where it is when numbers are multiplied.
bool stays(const std::optional<Scaled::Bound>& bound) { return !bound || bound->number.is_zero(); }

bool are_positive(const std::vector<Exact>& numbers) {
  return std::ranges::all_of(numbers, [](const Exact& number) { return number.sign() > 0; });
}

/// Whether ends may follow a product: they do not move, or all numbers move alike.
bool can_scale(const Scaled& scaled, const std::vector<Exact>& by) {
  if (!scaled.low && !scaled.high) return true;
  return are_positive(by) && (by.size() == 1 || (stays(scaled.low) && stays(scaled.high)));
}

template <class Change>
void change_bounds(Scaled& scaled, const Change& change) {
  for (auto* bound : {&scaled.low, &scaled.high})
    if (*bound) change(**bound);
}

}  // namespace

Scaled unscaled(const StreamView& stream) { return {stream, {ExactLine{Exact(1.0)}}}; }

std::optional<Scaled> multiplied(Scaled scaled, const std::vector<Exact>& factors) {
  if (!can_scale(scaled, factors) || !spread(scaled, factors.size())) return std::nullopt;
  for (std::size_t i = 0; i < scaled.lines.size(); ++i) {
    ExactLine& line = scaled.lines[i];
    const Exact& factor = factors[factors.size() == 1 ? 0 : i];
    line.factor = line.factor * factor;
    line.shift = line.shift * factor;
  }
  if (scaled.other) scaled.other->factor = scaled.other->factor * factors[0];
  change_bounds(scaled, [&](Scaled::Bound& bound) { bound.number = bound.number * factors[0]; });
  return scaled;
}

std::optional<Scaled> divided(Scaled scaled, const std::vector<Exact>& divisors) {
  if (!are_positive(divisors) || !can_scale(scaled, divisors)) return std::nullopt;
  if (!spread(scaled, divisors.size())) return std::nullopt;
  for (std::size_t i = 0; i < scaled.lines.size(); ++i)
    scaled.lines[i].divisor = scaled.lines[i].divisor * divisors[divisors.size() == 1 ? 0 : i];
  change_bounds(scaled, [&](Scaled::Bound& bound) { bound.divisor = bound.divisor * divisors[0]; });
  return scaled;
}

std::optional<Scaled> shifted(Scaled scaled, const std::vector<Exact>& summands) {
  if ((scaled.low || scaled.high) && summands.size() > 1) return std::nullopt;
  if (!spread(scaled, summands.size())) return std::nullopt;
  for (std::size_t i = 0; i < scaled.lines.size(); ++i) {
    ExactLine& line = scaled.lines[i];
    line.shift = line.shift + summands[summands.size() == 1 ? 0 : i] * line.divisor;
  }
  change_bounds(scaled, [&](Scaled::Bound& bound) {
    bound.number = bound.number + summands[0] * bound.divisor;
  });
  return scaled;
}

namespace {

/// The line from codes of a stream to codes of a grid.
ExactLine between(ExactLine line, int from, int to) {
  line.factor = line.factor * Exact(1, to - from);
  line.shift = line.shift * Exact(1, to);
  return line;
}

Wide end_of(const Scaled::Bound& bound, int frac, const Steps& steps) {
  return rounded_to({Exact(), bound.number * Exact(1, frac), bound.divisor}, 0, steps);
}

Steps steps_of(const Scaled& scaled, const Grid& grid) {
  const Steps all{grid.rounding, grid.type.low(), grid.type.high()};
  Steps steps = all;
  if (scaled.low) steps.low = end_of(*scaled.low, grid.type.frac, all);
  if (scaled.high) steps.high = std::max(steps.low, end_of(*scaled.high, grid.type.frac, all));
  return steps;
}

/// The results that codes reach.
Interval results_of(const std::vector<ExactLine>& lines, const Interval& codes,
                    const Steps& steps) {
  Interval all{steps.high, steps.low};
  for (const ExactLine& line : lines)
    for (const Wide code : {codes.low, codes.high}) {
      const Wide result = rounded_to(line, static_cast<std::int64_t>(code), steps);
      all = {std::min(all.low, result), std::max(all.high, result)};
    }
  return all;
}

}  // namespace

Interval ends_of(const Scaled& scaled, const Grid& grid) {
  const Steps steps = steps_of(scaled, grid);
  return {steps.low, steps.high};
}

std::optional<Scaled> sum_of(Scaled a, const Scaled& b, double sign) {
  for (const Scaled* one : {&std::as_const(a), &b})
    if (one->lines.size() != 1 || one->low || one->high || one->other) return std::nullopt;
  ExactLine& line = a.lines[0];
  ExactLine added = b.lines[0];
  if (!(line.divisor == added.divisor)) {
    const Exact own = line.divisor;
    line = {line.factor * added.divisor, line.shift * added.divisor, own * added.divisor};
    added = {added.factor * own, added.shift * own};
  }
  line.shift = line.shift + added.shift * Exact(sign);
  a.other = Scaled::Term{b.codes, added.factor * Exact(sign)};
  return a;
}

std::optional<IntegerPlane> rounding_plane(const Scaled& scaled, const StreamValue& codes,
                                           const StreamValue& others, const Grid& grid) {
  ExactPlane plane{between(scaled.lines[0], codes.type.frac, grid.type.frac), scaled.other->factor};
  plane.other = plane.other * Exact(1, grid.type.frac - others.type.frac);
  return integer_plane(plane, interval_of(codes.type), interval_of(others.type),
                       steps_of(scaled, grid));
}

RoundingStep rounding_step(const Scaled& scaled, const StreamValue& codes, const Grid& grid) {
  std::vector<ExactLine> lines;
  for (const ExactLine& line : scaled.lines)
    lines.push_back(between(line, codes.type.frac, grid.type.frac));
  const Interval range = interval_of(codes.type);
  Steps steps = steps_of(scaled, grid);
  IntegerLines found = integer_lines(lines, range, steps);
  const Interval results = results_of(lines, range, steps);
  steps.low = std::max(steps.low, results.low);
  steps.high = std::min(steps.high, results.high);
  const std::size_t channels = std::max(at(codes.channels()), lines.size());
  if (channels % lines.size() != 0)
    throw Refusal{"its constants do not fit the channels of its input"};
  RoundingStep step;
  Codes factors;
  for (std::size_t i = 0; i < channels; ++i) {
    factors.push_back(found.factors[i % lines.size()]);
    step.operation.shift.push_back(found.shifts[i % lines.size()]);
  }
  const auto [low, high] = std::ranges::minmax(factors);
  step.operation.scale_type = type_for(low, high, found.bits);
  step.operation.scale = std::move(factors);
  if (std::ranges::all_of(step.operation.shift, [](Wide shift) { return shift == 0; }))
    step.operation.shift.clear();
  step.accumulator = {matrix_interval(step.operation.scale, 1, step.operation.shift, range),
                      found.bits + grid.type.frac, found.divisor};
  step.requantise = {found.bits, found.divisor, found.rounding, steps.low, steps.high};
  return step;
}

}  // namespace mase::integer
