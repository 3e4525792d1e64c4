// SPDX-License-Identifier: Apache-2.0
// The choice of pipeline stages, by the paths of each instance with and without.
#include "hardware/design/folding/pipeline_stages.hpp"

#include <algorithm>

#include "hardware/design/building/node_metadata.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/module_table.hpp"

namespace mase::design {
namespace {

/// The longest path of a design whose matrices have all stages.
double least_ns(const Design& design, const Technology& technology, const Extent& extent) {
  Fold all;
  for (const StageKind& kind : stage_kinds) all.*kind.count = kind.most;
  double ns = 0;
  for (Instance instance : design.instances) {
    if (instance.module->row().set_stages) instance.module->row().set_stages(instance, all);
    ns = std::max(ns,
                  slowest_path(instance, instance_cost(design, instance), technology, extent).ns);
  }
  return ns;
}

/// Adds stages to an instance and its fold while they shorten paths that miss the period in `ns`.
void add_stages(const Design& design, Instance instance, const Technology& technology,
                const Extent& extent, double ns, Fold& fold) {
  const auto excess = [&](const Instance& made) {
    return excess_ns(made, instance_cost(design, made), technology, extent, ns);
  };
  for (const StageKind& kind : stage_kinds)
    while (fold.*kind.count < kind.most) {
      Fold longer = fold;
      ++(longer.*kind.count);
      longer.operand_stages = std::max(longer.operand_stages, longer.weight_stages);
      Instance staged = instance;
      staged.module->row().set_stages(staged, longer);
      if (excess(staged) >= excess(instance)) break;
      fold = longer;
      instance = staged;
    }
}

}  // namespace

Folding with_pipeline_stages(const Design& design, const ClockTarget& target) {
  Folding folding = design.folding;
  const Extent extent = extent_of(cost(design));
  const Technology& technology = staging_technology(*target.technology);
  // Where no stage can help, none elsewhere does.
  const double ns = std::max(1000 / target.mhz, least_ns(design, technology, extent));
  for (const integer::Step& step : design.program->steps) {
    const Instance* instance = main_instance(design, step);
    if (instance && instance->module->row().set_stages)
      add_stages(design, *instance, technology, extent, ns, folding[step.name]);
  }
  return folding;
}

}  // namespace mase::design
