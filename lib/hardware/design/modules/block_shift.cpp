// SPDX-License-Identifier: Apache-2.0
// A shifter for each lane, in two stages, behind a skid for each input.
#include "hardware/design/modules/block_shift.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
namespace {

constexpr int stages = 3;  ///< registers before the skid: two of the shift, and the rounding

/// Bits of the number that is shifted.
int shifted_bits(const BlockShiftModule& module) {
  if (!module.right) return module.result_bits;
  return module.a_bits + 1 + std::max(-module.places, 0);
}

/// Bits of the distance in the first stage, which has the longer distances.
int first_bits(const BlockShiftModule& module) { return (module.b_bits + 1) / 2; }

StreamId add_block_shift(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& shift = std::get<integer::BlockShift>(builder.step.operation);
  const integer::FixedType &a = builder.input(0).type, &b = builder.input(1).type;
  BlockShiftModule module{requantisation_of(builder)};
  module.lanes = builder.fold.in_lanes;
  module.a_bits = a.width;
  module.a_signed = a.is_signed;
  module.b_bits = b.width;
  module.right = shift.right;
  module.places = shift.places;
  module.result_bits = static_cast<int>(accumulator_width(builder.step));
  return builder.finish(module, inputs, module.lanes);
}

}  // namespace

std::unique_ptr<Handshake> BlockShiftModule::handshake(Stages kept) const {
  return std::make_unique<JoinHandshake>(stages, kept);
}

Cost BlockShiftModule::cost(const Design&) const {
  const auto shifted = static_cast<double>(shifted_bits(*this));
  Cost lane = requantise_stage_cost(*this, {result_bits});
  const int first = first_bits(*this), last = b_bits - first;
  const double coarse = shifted - (right ? 0 : static_cast<double>((1 << last) - 1));
  // The zeros that come in from below save a part of a long shift to the left.
  const bool saves = !right && first > 2;
  lane.lut += coarse * (saves ? fitted.long_shifter * first : shifter_luts(first)) +
              shifted * shifter_luts(last);
  if (right) lane.lut += shifted * fitted.block_rest_bit;
  lane.ff += coarse + shifted + last + (right ? 2 : 0);
  Cost cost = output_cost(lanes * out_bits, stages);
  cost += skid_cost(lanes * a_bits);
  cost += skid_cost(lanes * b_bits);
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths BlockShiftModule::paths(const Technology& technology) const {
  const Path shift{.what = "shift",
                   .luts = static_cast<double>(first_bits(*this)),
                   .readers = static_cast<double>(shifted_bits(*this))};
  return {shift, rounding_path(*this, {result_bits}, technology)};
}

std::vector<Measured<BlockShiftModule>> BlockShiftModule::measured() {
  const auto module = [](int from, int distance, bool right, int result, int to, int shift) {
    const Sized low{-(Wide{1} << (to - 1)), 64, true}, high{(Wide{1} << (to - 1)) - 1, 64, true};
    return BlockShiftModule{
        {to, shift, 1, 1, low, high}, 4, from, true, distance, right, 0, result};
  };
  const auto rounded = [&](int from, int distance, int to) {
    return module(from, distance, true, from + 1, to, from + 1 - to);
  };
  const auto exact = [&](int from, int distance) {
    const int to = from + (1 << distance) - 1;
    return module(from, distance, false, to, to, 0);
  };
  return {{rounded(24, 4, 8), 420}, {rounded(16, 3, 8), 291}, {rounded(40, 5, 6), 870},
          {rounded(12, 2, 4), 203}, {exact(8, 4), 363},       {exact(4, 3), 167},
          {exact(8, 2), 167},       {exact(6, 5), 579}};
}

StepRow BlockShiftModule::step() {
  return {"block_shift", element_rule, fold_lanes, output_interval, nullptr, add_block_shift};
}

ModuleRow BlockShiftModule::row() {
  return row_of_module<BlockShiftModule>(
      {.folder = "elementwise",
       .doc = "elements shifted by the exponents of their blocks",
       .uses = {"mase_requantise_stage", "mase_skid"},
       .inputs = {"a", "b"},
       .outputs = {"out"}});
}

}  // namespace mase::design
