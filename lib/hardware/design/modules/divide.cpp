// SPDX-License-Identifier: Apache-2.0
// A subtraction for each bit of the quotient, behind a skid for each input.
#include "hardware/design/modules/divide.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
namespace {

/// Registers before the skid: magnitudes, one for each bit, sign, rounding.
int stages_of(const DivideModule& module) { return module.quotient_bits + 3; }

/// The quotient with its sign and a bit that tells whether something is left.
int signed_quotient_bits(const DivideModule& module) { return module.quotient_bits + 2; }

/// Bits of the remainder behind `stage` bits of the quotient: of the divisor, or of those of the
/// numerator that were taken so far.
std::int64_t remainder_bits(const DivideModule& module, int stage) {
  const int taken = module.a_bits + module.a_shift - module.quotient_bits + stage;
  return std::clamp(taken, 0, module.b_bits + module.b_shift);
}

/// One lane, without its requantisation.
Cost divider_cost(const DivideModule& module) {
  const std::int64_t a = module.a_bits, b = module.b_bits, bits = module.quotient_bits;
  Cost cost = adder_cost(bits + 2);
  // The bound where the quotient has too many bits: its choice, the comparison that finds it, and
  // shift registers that carry it and the sign along.
  cost.lut += static_cast<double>(bits + 1 + ceiling(b, 2) + 2);
  cost.ff += static_cast<double>(a + b + bits + 2);
  if (module.a_signed) cost += adder_cost(a);
  if (module.b_signed) cost += adder_cost(b);
  for (int stage = 1; stage <= bits; ++stage) {
    const std::int64_t kept = remainder_bits(module, stage);
    cost += adder_cost(b + module.b_shift + 1);
    cost.lut += static_cast<double>(kept);  // the difference, or what it was taken from
    cost.ff += static_cast<double>(kept + b + bits + 2);
  }
  return cost;
}

StreamId add_divide(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& divide = std::get<integer::Divide>(builder.step.operation);
  const integer::FixedType &a = builder.input(0).type, &b = builder.input(1).type;
  DivideModule module{requantisation_of(builder)};
  module.lanes = builder.fold.in_lanes;
  module.a_bits = a.width;
  module.a_signed = a.is_signed;
  module.a_shift = divide.shift_a;
  module.b_bits = b.width;
  module.b_signed = b.is_signed;
  module.b_shift = divide.shift_b;
  module.quotient_bits = divide.bits;
  return builder.finish(module, inputs, module.lanes);
}

}  // namespace

std::unique_ptr<Handshake> DivideModule::handshake(Stages kept) const {
  return std::make_unique<JoinHandshake>(stages_of(*this), kept);
}

Cost DivideModule::cost(const Design&) const {
  Cost lane = divider_cost(*this);
  lane += requantise_stage_cost(*this, {signed_quotient_bits(*this)});
  Cost cost = output_cost(lanes * out_bits, stages_of(*this));
  cost += skid_cost(lanes * a_bits);
  cost += skid_cost(lanes * b_bits);
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths DivideModule::paths(const Technology& technology) const {
  const int divisor = b_bits + b_shift, quotient = signed_quotient_bits(*this);
  Path difference = adder_path("difference", divisor + 2);
  difference.luts = 1;
  difference.readers = static_cast<double>(divisor);
  Path sign = adder_path("sign of the quotient", quotient);
  sign.luts = 1 + tree_luts(divisor, technology);
  return {difference, sign, rounding_path(*this, {quotient}, technology)};
}

StepRow DivideModule::step() {
  return {"divide", element_rule, fold_lanes, output_interval, nullptr, add_divide};
}

ModuleRow DivideModule::row() {
  return row_of_module<DivideModule>({.folder = "elementwise",
                                      .doc = "quotient of two streams",
                                      .uses = {"mase_requantise_stage", "mase_skid"},
                                      .inputs = {"a", "b"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
