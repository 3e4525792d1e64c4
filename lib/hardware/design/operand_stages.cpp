// SPDX-License-Identifier: Apache-2.0
// The choice of operand stages, by the paths of each instance with and without.
#include "hardware/design/operand_stages.hpp"

#include "hardware/design/cost.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/node_metadata.hpp"

namespace mase::design {
namespace {

double slowest_ns(const Design& design, const Instance& instance, const ClockTarget& target) {
  const Cost cost = instance_cost(design, instance);
  return slowest_path(instance, cost, *target.technology, extent_of(design)).ns;
}

/// Whether an instance misses the period and a stage makes it faster.
bool gains(const Design& design, const Instance& instance, const ClockTarget& target) {
  const double before = slowest_ns(design, instance, target);
  if (before <= 1000 / target.mhz) return false;
  Instance staged = instance;
  staged.parameters.set("OPERAND_STAGES", 1);
  return slowest_ns(design, staged, target) < before;
}

}  // namespace

Folding with_operand_stages(const Design& design, const ClockTarget& target) {
  Folding folding = design.folding;
  for (const integer::Step& step : design.program->steps) {
    const Instance* instance = main_instance(design, step);
    if (!instance || !row_of(*instance).operand_stages) continue;
    if (gains(design, *instance, target)) folding[step.name].operand_stages = 1;
  }
  return folding;
}

}  // namespace mase::design
