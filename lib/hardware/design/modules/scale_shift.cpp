// SPDX-License-Identifier: Apache-2.0
// A product and a sum for each lane, and two memories for the constants of the channels.
#include "hardware/design/modules/scale_shift.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

// Registers before the skid.
constexpr int scale_shift_stages = 5;

int in_operand(const ScaleShiftModule& module) {
  return signed_bits(Width{module.in_bits, module.in_signed});
}
int scale_operand(const ScaleShiftModule& module) {
  return signed_bits(Width{module.scale_bits, module.scale_signed});
}

/// Constants of all channels, of so many bits each.
Cost constants_cost(const ScaleShiftModule& module, int bits, const std::string& file,
                    const Design& design) {
  const std::int64_t width = module.lanes * bits;
  return design.reloadable ? reload_memory_cost(width, module.blocks, false)
                           : table_cost(width, module.blocks, design.find_memory(file));
}

/// Both memories with their addresses.
Cost memories_cost(const ScaleShiftModule& module, const Design& design) {
  Cost cost = constants_cost(module, module.scale_bits, module.scale_file, design);
  if (module.has_shift)
    cost += constants_cost(module, module.shift_bits, module.shift_file, design);
  if (cost.ff == 0 || module.blocks == 1) return cost;  // equal words need no counter
  cost += counter_cost(module.blocks);
  if (module.has_shift) cost.ff += 2 * log2_ceiling(module.blocks);
  return cost;
}

StreamId add_scale_shift(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& scale = std::get<integer::ScaleShift>(builder.step.operation);
  const integer::FixedType& in = builder.input().type;
  const std::int64_t lanes = builder.fold.in_lanes;
  ScaleShiftModule module{requantisation_of(builder)};
  module.blocks = static_cast<std::int64_t>(scale.scale.size()) / lanes;
  module.lanes = lanes;
  module.in_bits = in.width;
  module.in_signed = in.is_signed;
  module.scale_bits = scale.scale_type.width;
  module.scale_signed = scale.scale_type.is_signed;
  module.has_shift = !scale.shift.empty();
  module.shift_bits = scale.shift_width > 0 ? scale.shift_width : integer::codes_width(scale.shift);
  module.sum_bits = static_cast<int>(accumulator_width(builder.step));
  module.multiplier = static_cast<int>(builder.fold.multiplier);
  module.scale_file = builder.vector_memory("scale", scale.scale, lanes, module.scale_bits);
  module.shift_file = builder.vector_memory("shift", scale.shift, lanes, module.shift_bits);
  return builder.finish(module, inputs, lanes);
}

}  // namespace

std::unique_ptr<Handshake> ScaleShiftModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(scale_shift_stages, kept);
}

Cost ScaleShiftModule::cost(const Design& design) const {
  Cost lane = product_cost(in_operand(*this), scale_operand(*this), multiplier);
  // A DSP block holds operands, product and sum and adds the shift.
  if (lane.dsp == 0) {
    lane.ff += static_cast<double>(2 * sum_bits + 2 * in_bits);
    if (has_shift) lane += adder_cost(sum_bits);
  }
  lane += requantise_stage_cost(*this, {sum_bits});
  Cost cost = output_cost(lanes * out_bits, scale_shift_stages);
  cost += scaled(lane, static_cast<double>(lanes));
  cost += memories_cost(*this, design);
  return cost;
}

Paths ScaleShiftModule::paths(const Technology& technology) const {
  const Path product = product_path(in_operand(*this), scale_operand(*this), multiplier);
  Paths paths{product, rom_path(lanes * scale_bits, blocks, false, technology),
              counter_path(blocks, technology)};
  if (has_shift) paths.push_back(summand_path(product, sum_bits));
  paths.push_back(rounding_path(*this, {sum_bits}, technology));
  return paths;
}

StepRow ScaleShiftModule::step() {
  return {"scale_shift", channel_rule, fold_lanes, output_interval, nullptr, add_scale_shift};
}

ModuleRow ScaleShiftModule::row() {
  return row_of_module<ScaleShiftModule>(
      {.folder = "elementwise",
       .doc = "product and sum by channel",
       .uses = {"mase_multiply_stage", "mase_requantise_stage", "mase_rom", "mase_skid"},
       .reloads = true,
       .inputs = {"in"},
       .outputs = {"out"}});
}

}  // namespace mase::design
