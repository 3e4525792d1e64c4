// SPDX-License-Identifier: Apache-2.0
// An element, kept until it has left often enough.
#include "hardware/design/modules/repeat.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
namespace {

FoldRule repeat_rule(const Program&, const Step& step, const Fold&) {
  return {1, std::get<integer::Repeat>(step.operation).count};
}

StreamId add_repeat(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const RepeatModule module{.width = builder.input().type.width,
                            .count = std::get<integer::Repeat>(builder.step.operation).count,
                            .lanes = builder.fold.out_lanes};
  return builder.finish(module, inputs, module.lanes);
}

}  // namespace

std::unique_ptr<Handshake> RepeatModule::handshake(Stages) const {
  return std::make_unique<NarrowHandshake>(count / lanes);
}

Cost RepeatModule::cost(const Design&) const {
  Cost cost = skid_cost(width);
  cost += counter_cost(count / lanes);
  cost.lut += 2;
  cost.ff += static_cast<double>(width + 1);
  return cost;
}

Paths RepeatModule::paths(const Technology& technology) const {
  return {counter_path(count / lanes, technology)};
}

StepRow RepeatModule::step() {
  return {"repeat", repeat_rule, fold_lanes, unfolded_interval, nullptr, add_repeat};
}

ModuleRow RepeatModule::row() {
  return row_of_module<RepeatModule>({.folder = "plumbing",
                                      .doc = "every element several times",
                                      .uses = {"mase_skid"},
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
