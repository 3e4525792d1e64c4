// SPDX-License-Identifier: Apache-2.0
// A shifter for each lane and a memory of distances; with one block the distances are wires.
#include "hardware/design/modules/channel_shift.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// Registers before the skid.
int stages_of(const ChannelShiftModule& module) { return module.blocks > 1 ? 3 : 1; }

StreamId add_channel_shift(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& left = std::get<integer::ChannelShift>(builder.step.operation).left;
  const integer::FixedType& in = builder.input().type;
  const std::int64_t lanes = builder.fold.in_lanes;
  const int bits = log2_ceiling(std::ranges::max(left) + 1);
  ChannelShiftModule module{requantisation_of(builder)};
  module.blocks = static_cast<std::int64_t>(left.size()) / lanes;
  module.lanes = lanes;
  module.in_bits = in.width;
  module.in_signed = in.is_signed;
  module.distance_bits = bits;
  module.shifted_bits = static_cast<int>(accumulator_width(builder.step));
  if (module.blocks > 1)
    module.file = builder.vector_memory("left", left, lanes, bits);
  else
    module.distances = pack_bits(std::vector<Wide>(left.begin(), left.end()), bits);
  return builder.finish(module, inputs, lanes);
}

}  // namespace

std::unique_ptr<Handshake> ChannelShiftModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(stages_of(*this), kept);
}

Cost ChannelShiftModule::cost(const Design& design) const {
  Cost lane = requantise_stage_cost(*this, {shifted_bits});
  Cost cost = output_cost(lanes * out_bits, stages_of(*this));
  if (blocks > 1) {
    lane.lut += static_cast<double>(shifted_bits) * shifter_luts(distance_bits);
    lane.ff += static_cast<double>(shifted_bits + in_bits);
    cost += table_cost(lanes * distance_bits, blocks, file ? design.find_memory(*file) : nullptr);
    cost += counter_cost(blocks);
  }
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths ChannelShiftModule::paths(const Technology& technology) const {
  Paths paths{rounding_path(*this, {shifted_bits}, technology)};
  if (blocks == 1) return paths;
  paths.push_back(rom_path(lanes * distance_bits, blocks, false, technology));
  paths.push_back({.what = "shift",
                   .luts = static_cast<double>(distance_bits),
                   .readers = static_cast<double>(shifted_bits)});
  return paths;
}

StepRow ChannelShiftModule::step() {
  return {"channel_shift", channel_rule, fold_lanes, output_interval, nullptr, add_channel_shift};
}

ModuleRow ChannelShiftModule::row() {
  return row_of_module<ChannelShiftModule>(
      {.folder = "elementwise",
       .doc = "accumulators of channels to one binary point",
       .uses = {"mase_requantise_stage", "mase_rom", "mase_skid"},
       .inputs = {"in"},
       .outputs = {"out"}});
}

}  // namespace mase::design
