// SPDX-License-Identifier: Apache-2.0
// Merging casts into the steps before them, and dropping what nobody reads.
#include "hardware/integer/lowering/simplify.hpp"

#include <algorithm>

#include "hardware/integer/lowering/requantise.hpp"

namespace mase::integer {
namespace {

bool is_pure_clamp(const Requantise& requantise) {
  return requantise.shift == 0 && requantise.divisor == 1;
}

/// The one requantisation that does `first` and then `second`, where there is one.
///
/// - second only clamps: clamping twice is clamping to both ranges.
/// - first scales exactly (shift <= 0) and clamps to [a, b]: `second` is monotone, so it maps a
///   clamped code to its own result clamped to [second(a), second(b)].
std::optional<Requantise> composed(const Requantise& first, const Requantise& second,
                                   const Interval& codes) {
  Requantise result = first;
  if (is_pure_clamp(second)) {
    result.low = std::clamp(first.low, second.low, second.high);
    result.high = std::clamp(first.high, second.low, second.high);
    return result;
  }
  if (first.shift > 0 || first.divisor != 1) return std::nullopt;
  result = second;
  result.shift += first.shift;
  if (result.shift < 0 && signed_width(codes.low, codes.high) - result.shift > 126)
    return std::nullopt;
  const Interval scaled = shifted(codes, -first.shift);
  if (first.low > scaled.low) result.low = second(first.low);
  if (first.high < scaled.high) result.high = second(first.high);
  return result;
}

class Simplifier {
 public:
  explicit Simplifier(Program& program) : program_(program) {}

  void run() {
    for (std::size_t i = 0; i < program_.steps.size();) i = merge(i) || pass_move(i) ? 0 : i + 1;
    while (drop_unread_steps()) {
    }
    renumber();
  }

 private:
  bool is_returned(ValueId id) const {
    return std::ranges::find(program_.outputs, id) != program_.outputs.end();
  }

  Step* producer(ValueId id) {
    const auto found = std::ranges::find(program_.steps, id, &Step::output);
    return found == program_.steps.end() ? nullptr : &*found;
  }

  /// Merges the cast at `index` into the step that makes its input, when nobody else reads that.
  bool merge(std::size_t index) {
    const Step& cast = program_.steps[index];
    if (!std::holds_alternative<Cast>(cast.operation)) return false;
    const ValueId id = cast.inputs[0];
    Step* before = producer(id);
    if (!before || is_returned(id) || program_.consumers(id).size() != 1) return false;
    if (cast.frac != program_.value(id).type.frac) return false;  // another binary point
    return merge_into(*before, index);
  }

  /// Whether a step moves one stream to the place of `id` alone, and a cast of all of its codes may
  /// come first.
  bool leads_to(const Step* move, ValueId id) const {
    return move && cast_behind(move->operation) == CastBehind::passes && move->inputs.size() == 1 &&
           !is_returned(id) && program_.consumers(id).size() == 1;
  }

  /// Puts the cast at `index` in front of the move before it, where it then merges into a step, or
  /// does so in front of further moves: requantising every code alike commutes with moving them.
  bool pass_move(std::size_t index) {
    const Step& cast = program_.steps[index];
    if (!std::holds_alternative<Cast>(cast.operation)) return false;
    ValueId id = cast.inputs[0];
    const Step* source = producer(id);
    if (!leads_to(source, id)) return false;
    for (; leads_to(source, id); source = producer(id)) id = source->inputs[0];
    if (!source || is_returned(id) || program_.consumers(id).size() != 1) return false;
    if (cast.frac != program_.value(id).type.frac || !can_merge(*source, cast)) return false;
    exchange(program_.steps[index], *producer(cast.inputs[0]));
    return true;
  }

  /// The value in between has the order of the move's input now, and the codes of the cast.
  void exchange(Step& cast, Step& move) {
    const StreamValue& behind = program_.value(cast.output);
    const FixedType type = behind.type;
    StreamValue& between = program_.values[at(move.output)];
    between = program_.value(move.inputs[0]);
    between.type = type;
    between.levels = behind.levels;
    take_cast(move.operation, cast.requantise);
    std::swap(cast.inputs, move.inputs);
    std::swap(cast.output, move.output);
    const Interval range = interval_of(type);
    move.low = range.low;
    move.high = range.high;
    move.frac = type.frac;
    move.requantise = unchanged(type);
    std::swap(cast, move);
  }

  static bool can_merge(const Step& before, const Step& cast) {
    switch (cast_behind(before.operation)) {
      case CastBehind::merges:
        return composed(before.requantise, cast.requantise, {before.low, before.high}).has_value();
      case CastBehind::enters:
        return true;
      case CastBehind::passes:
      case CastBehind::stays:
        return false;
    }
    return false;
  }

  bool merge_into(Step& before, std::size_t index) {
    const Step& cast = program_.steps[index];
    if (!can_merge(before, cast)) return false;
    if (cast_behind(before.operation) == CastBehind::enters)
      enter(before, cast);
    else
      before.requantise = *composed(before.requantise, cast.requantise, {before.low, before.high});
    finish(before, index);
    return true;
  }

  void enter(Step& before, const Step& cast) {
    take_cast(before.operation, cast.requantise);
    before.low = before.requantise.low = cast.requantise.low;
    before.high = before.requantise.high = cast.requantise.high;
    before.frac = program_.value(cast.output).type.frac;
  }

  void finish(Step& before, std::size_t index) {
    const Step cast = program_.steps[index];
    StreamValue& value = program_.values[static_cast<std::size_t>(cast.output)];
    // A cast that belongs to a port is not a node: its result is still that of the node before.
    if (cast.name != cast.layer) value.name = program_.value(before.output).name;
    before.output = cast.output;
    program_.steps.erase(program_.steps.begin() + static_cast<std::ptrdiff_t>(index));
  }

  bool drop_unread_steps() {
    const auto unread = [&](const Step& step) {
      return !is_returned(step.output) && program_.consumers(step.output).empty();
    };
    const auto found = std::ranges::find_if(program_.steps, unread);
    if (found == program_.steps.end()) return false;
    program_.steps.erase(found);
    return true;
  }

  /// Values in the order they are made, without those that no step makes any more.
  void renumber() {
    std::vector<StreamValue> values;
    std::map<ValueId, ValueId> numbers;
    const auto keep = [&](ValueId& id) {
      const auto [entry, added] = numbers.emplace(id, static_cast<ValueId>(values.size()));
      if (added) values.push_back(program_.value(id));
      id = entry->second;
    };
    for (ValueId& id : program_.inputs) keep(id);
    for (Step& step : program_.steps) {
      for (ValueId& id : step.inputs) keep(id);
      keep(step.output);
    }
    for (ValueId& id : program_.outputs) keep(id);
    program_.values = std::move(values);
  }

  Program& program_;
};

}  // namespace

void simplify(Program& program) { Simplifier(program).run(); }

}  // namespace mase::integer
