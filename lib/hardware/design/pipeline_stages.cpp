// SPDX-License-Identifier: Apache-2.0
// The choice of pipeline stages, by the paths of each instance with and without.
#include "hardware/design/pipeline_stages.hpp"

#include "hardware/design/cost.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/node_metadata.hpp"

namespace mase::design {
namespace {

/// Adds stages to an instance and its fold while they shorten paths that miss the period.
void add_stages(const Design& design, Instance instance, const ClockTarget& target,
                const Extent& extent, Fold& fold) {
  const auto excess = [&](const Instance& made) {
    return excess_ns(made, instance_cost(design, made), *target.technology, extent,
                     1000 / target.mhz);
  };
  for (const StageKind& kind : stage_kinds) {
    Instance staged = instance;
    staged.parameters.set(kind.parameter, std::int64_t{1});
    if (excess(staged) >= excess(instance)) continue;
    fold.*kind.count = 1;
    instance = staged;
  }
}

}  // namespace

Folding with_pipeline_stages(const Design& design, const ClockTarget& target) {
  Folding folding = design.folding;
  const Extent extent = extent_of(cost(design));
  for (const integer::Step& step : design.program->steps) {
    const Instance* instance = main_instance(design, step);
    if (instance && row_of(*instance).pipelined)
      add_stages(design, *instance, target, extent, folding[step.name]);
  }
  return folding;
}

}  // namespace mase::design
