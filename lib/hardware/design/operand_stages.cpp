// SPDX-License-Identifier: Apache-2.0
// The choice of operand stages, by the paths of each instance with and without.
#include "hardware/design/operand_stages.hpp"

#include "hardware/design/cost.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/node_metadata.hpp"

namespace mase::design {
namespace {

/// Whether an instance of a design of this extent misses the period and a stage makes it faster.
bool gains(const Design& design, const Instance& instance, const ClockTarget& target,
           const Extent& extent) {
  const auto slowest_ns = [&](const Instance& made) {
    return slowest_path(made, instance_cost(design, made), *target.technology, extent).ns;
  };
  const double before = slowest_ns(instance);
  if (before <= 1000 / target.mhz) return false;
  Instance staged = instance;
  staged.parameters.set("OPERAND_STAGES", 1);
  return slowest_ns(staged) < before;
}

}  // namespace

Folding with_operand_stages(const Design& design, const ClockTarget& target) {
  Folding folding = design.folding;
  const Extent extent = extent_of(cost(design));
  for (const integer::Step& step : design.program->steps) {
    const Instance* instance = main_instance(design, step);
    if (!instance || !row_of(*instance).operand_stages) continue;
    if (gains(design, *instance, target, extent)) folding[step.name].operand_stages = 1;
  }
  return folding;
}

}  // namespace mase::design
