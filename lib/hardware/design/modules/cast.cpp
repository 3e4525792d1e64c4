// SPDX-License-Identifier: Apache-2.0
// A rounding stage for each lane.
#include "hardware/design/modules/cast.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

StreamId add_cast(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::FixedType& in = builder.input().type;
  const CastModule module{requantisation_of(builder), builder.fold.in_lanes, in.width,
                          in.is_signed};
  return builder.finish(module, inputs, module.lanes);
}

}  // namespace

std::unique_ptr<Handshake> CastModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(1, kept);
}

Cost CastModule::cost(const Design&) const {
  Cost cost = output_cost(lanes * out_bits, 1);
  const Cost lane = requantise_stage_cost(*this, {in_bits, in_signed});
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths CastModule::paths(const Technology& technology) const {
  return {rounding_path(*this, {in_bits, in_signed}, technology)};
}

StepRow CastModule::step() {
  return {"cast", element_rule, fold_lanes, output_interval, nullptr, add_cast};
}

ModuleRow CastModule::row() {
  return row_of_module<CastModule>({.folder = "elementwise",
                                    .doc = "other type, clamps",
                                    .uses = {"mase_requantise_stage", "mase_skid"},
                                    .inputs = {"in"},
                                    .outputs = {"out"}});
}

}  // namespace mase::design
