// SPDX-License-Identifier: Apache-2.0
// An adder, a product or a choice for each lane, behind a skid for each input.
#include "hardware/design/modules/binary.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
namespace {

bool multiplies(const BinaryModule& module) { return module.operation == 2; }
bool chooses(const BinaryModule& module) { return module.operation >= 3; }

/// Registers before the skid; those of a product's operands are one more.
int stages_of(const BinaryModule& module) { return multiplies(module) ? 3 : 2; }

int left_operand(const BinaryModule& module) {
  return signed_bits(Width{module.a_bits, module.a_signed});
}
int right_operand(const BinaryModule& module) {
  return signed_bits(Width{module.b_bits, module.b_signed});
}

/// The exact result of a lane, with its register.
Cost result_cost(const BinaryModule& module) {
  if (multiplies(module)) {
    Cost cost = product_cost(left_operand(module), right_operand(module), module.multiplier);
    // A DSP block has the registers of operands and product.
    if (cost.dsp == 0)
      cost.ff += static_cast<double>(module.result_bits + module.a_bits + module.b_bits);
    return cost;
  }
  Cost cost = chooses(module) ? choice_cost(module.result_bits) : adder_cost(module.result_bits);
  cost.ff += static_cast<double>(module.result_bits);
  return cost;
}

StreamId add_binary(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& binary = std::get<integer::Binary>(builder.step.operation);
  const integer::FixedType &a = builder.input(0).type, &b = builder.input(1).type;
  BinaryModule module{requantisation_of(builder)};
  module.operation = static_cast<int>(binary.kind);
  module.lanes = builder.fold.in_lanes;
  module.a_bits = a.width;
  module.a_signed = a.is_signed;
  module.a_shift = binary.shift_a;
  module.b_bits = b.width;
  module.b_signed = b.is_signed;
  module.b_shift = binary.shift_b;
  module.result_bits = static_cast<int>(accumulator_width(builder.step));
  module.multiplier = static_cast<int>(builder.fold.multiplier);
  return builder.finish(module, inputs, module.lanes);
}

}  // namespace

std::unique_ptr<Handshake> BinaryModule::handshake(Stages kept) const {
  return std::make_unique<JoinHandshake>(stages_of(*this), kept);
}

Cost BinaryModule::cost(const Design&) const {
  Cost lane = result_cost(*this), clamp = requantise_stage_cost(*this, {result_bits});
  if (lane.dsp != 0) clamp.carry = 0;  // a DSP block adds the half itself
  lane += clamp;
  Cost cost = output_cost(lanes * out_bits, stages_of(*this));
  cost += skid_cost(lanes * a_bits);
  cost += skid_cost(lanes * b_bits);
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths BinaryModule::paths(const Technology& technology) const {
  Path result = multiplies(*this)
                    ? product_path(left_operand(*this), right_operand(*this), multiplier)
                    : adder_path("sum", result_bits);
  if (chooses(*this)) result.luts += 1;
  return {result, rounding_path(*this, {result_bits}, technology)};
}

StepRow BinaryModule::step() {
  return {"binary", element_rule, fold_lanes, output_interval, nullptr, add_binary};
}

ModuleRow BinaryModule::row() {
  return row_of_module<BinaryModule>(
      {.folder = "elementwise",
       .doc = "sum, difference, product, larger or smaller of two streams",
       .uses = {"mase_multiply_stage", "mase_less", "mase_requantise_stage", "mase_skid"},
       .inputs = {"a", "b"},
       .outputs = {"out"}});
}

}  // namespace mase::design
