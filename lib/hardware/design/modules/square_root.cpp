// SPDX-License-Identifier: Apache-2.0
// A subtraction for each bit of the root.
#include "hardware/design/modules/square_root.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// Registers before the skid: the radicand, and one for each bit of the root.
int stages_of(const SquareRootModule& root) { return root.root_bits + 1; }

StreamId add_square_root(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& root = std::get<integer::SquareRoot>(builder.step.operation);
  const SquareRootModule module{.lanes = builder.fold.in_lanes,
                                .in_bits = builder.input().type.width,
                                .shift = root.shift,
                                .addend = Sized{root.addend, 64, false},
                                .root_bits = builder.output().type.width};
  return builder.finish(module, inputs, module.lanes);
}

}  // namespace

std::unique_ptr<Handshake> SquareRootModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(stages_of(*this), kept);
}

Cost SquareRootModule::cost(const Design&) const {
  Cost lane;
  for (std::int64_t stage = 1; stage <= root_bits; ++stage) {
    // The difference, or what it was taken from; what is left of the radicand lies in LUTs.
    lane.lut += static_cast<double>(2 * stage - 1);
    lane.ff += static_cast<double>(2 * stage);
    lane.carry += carry_chain(stage + 3);
  }
  Cost cost = output_cost(lanes * root_bits, stages_of(*this));
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths SquareRootModule::paths(const Technology&) const {
  const auto bits = static_cast<double>(root_bits);
  const Path difference{
      .what = "difference", .luts = 1, .chains = 1, .carry = bits + 3, .readers = bits};
  return {difference, {.what = "radicand", .chains = 1, .carry = 2 * bits}};
}

StepRow SquareRootModule::step() {
  return {"square_root", element_rule, fold_lanes, output_interval, nullptr, add_square_root};
}

ModuleRow SquareRootModule::row() {
  return row_of_module<SquareRootModule>({.folder = "elementwise",
                                          .doc = "whole part of a square root",
                                          .uses = {"mase_skid"},
                                          .inputs = {"in"},
                                          .outputs = {"out"}});
}

}  // namespace mase::design
