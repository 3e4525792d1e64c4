// SPDX-License-Identifier: Apache-2.0
// Enumerating folds and pricing them.
#include "hardware/design/folding/fold_options.hpp"

#include <algorithm>
#include <limits>

#include "hardware/design/module_table.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

bool agrees(const FoldSpace& space, std::int64_t wanted, std::int64_t lanes) {
  return wanted == 0 ? lanes <= space.max_lanes : wanted == lanes;
}

/// The folds of a step with or without a parallel window.
std::vector<Fold> folds_of(const Program& program, const Step& step, const FoldSpace& space,
                           bool parallel_window) {
  Fold fold;
  fold.parallel_window = parallel_window;
  const FoldRule rule = step_row(step).rule(program, step, fold);
  std::vector<Fold> folds;
  for (std::int64_t in : rule.in_lanes()) {
    if (!agrees(space, space.fixed.in_lanes, in)) continue;
    for (std::int64_t out : rule.same ? std::vector{in} : rule.out_lanes()) {
      if (!agrees(space, space.fixed.out_lanes, out)) continue;
      fold.in_lanes = in;
      fold.out_lanes = out;
      folds.push_back(fold);
    }
  }
  return folds;
}

/// With a parallel window only when that is fixed, else both kinds.
std::vector<Fold> all_folds(const Program& program, const Step& step, const FoldSpace& space) {
  std::vector<Fold> folds;
  if (!space.fixed.parallel_window) folds = folds_of(program, step, space, false);
  if (!step_row(step).rule(program, step, {}).parallel_window) return folds;
  const std::vector<Fold> unfolded = folds_of(program, step, space, true);
  folds.insert(folds.end(), unfolded.begin(), unfolded.end());
  return folds;
}

/// A fold, and what it becomes where outputs share multipliers.
void add_options(const Program& program, const Step& step, const FoldSpace& space,
                 FoldOption option, std::vector<FoldOption>& options) {
  std::vector<Packing> packs;
  if (space.block) packs = step_packings(program, step, option.fold, *space.block);
  const auto priced = [&](const Packing& packing) {
    option.fold.packing = packing;
    option.cost = step_cost(program, step, option.fold);
    option.area = area(option.cost);
    return option;
  };
  const FoldOption plain = priced({});
  if (packs.empty() || !space.always_packed) options.push_back(plain);
  for (const Packing& packing : packs)
    if (const FoldOption packed = priced(packing);
        space.always_packed || packed.cost.dsp < plain.cost.dsp)
      options.push_back(packed);
}

}  // namespace

double area(const Cost& cost) { return cost.lut + 30 * cost.dsp + 200 * cost.bram; }

Cost step_cost(const Program& program, const Step& step, const Fold& fold) {
  return cost(lone_step(program, step, fold));
}

Cost resize_cost(const integer::StreamValue& value, std::int64_t from_lanes, std::int64_t to_lanes,
                 std::int64_t interval) {
  if (from_lanes == to_lanes) return {};
  Design design;
  const Program none;
  const Step step;
  const Fold fold;
  StepBuilder builder(design, none, step, fold, "", false);
  design.streams.push_back({"", from_lanes, value.type, value.elements(), -1});
  builder.resize(0, to_lanes, "", interval);
  return cost(design);
}

std::int64_t multiplications(const Program& program, const Step& step) {
  return program.value(step.output).elements() * integer::products(step.operation);
}

std::vector<FoldOption> fold_options(const Program& program, const Step& step,
                                     const FoldSpace& space, std::int64_t interval) {
  const bool multiplies = multiplications(program, step) > 0;
  std::vector<FoldOption> options;
  for (Fold fold : all_folds(program, step, space)) {
    const std::int64_t cycles = step_interval(program, step, fold);
    if (cycles > interval) continue;
    for (Multiplier multiplier :
         multiplies ? space.multipliers : std::vector{Multiplier::automatic}) {
      fold.multiplier = multiplier;
      add_options(program, step, space, {fold, cycles, {}, 0}, options);
    }
  }
  return options;
}

std::int64_t fastest_interval(const Program& program, const Step& step, const FoldSpace& space) {
  std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
  for (const Fold& fold : all_folds(program, step, space))
    fastest = std::min(fastest, step_interval(program, step, fold));
  return fastest;
}

}  // namespace mase::design
