// SPDX-License-Identifier: Apache-2.0
// The elementwise family of hardware modules: rows, handshake models and costs.
#include <algorithm>
#include <array>

#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/divide.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/piecewise.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/square_root.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
namespace {

using Made = std::unique_ptr<Handshake>;

// Registers before the skid.
int channel_shift_stages(const ModuleParameters& p) { return p.integer("BLOCKS") > 1 ? 3 : 1; }

Made make_channel_shift(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<PipeHandshake>(channel_shift_stages(parameters), kept);
}

/// LUTs for each bit of a number that is shifted by a distance of so many bits, two of which choose
/// among four places in one LUT. Fitted, as in primitives.hpp, up to four bits.
double shifter_luts(std::int64_t distance_bits) {
  constexpr std::array fitted{0.0, 0.93, 1.15, 2.0, 2.45};
  const auto bits = static_cast<std::size_t>(distance_bits);
  return bits < fitted.size() ? fitted[bits] : 0.6 * static_cast<double>(bits);
}

Cost channel_shift_cost(const Design& design, const Instance& instance) {
  const std::int64_t lanes = instance.parameter("LANES"), blocks = instance.parameter("BLOCKS"),
                     acc = instance.parameter("ACCW"), bits = instance.parameter("LW");
  Cost lane = requantise_stage_cost(instance.parameters, {static_cast<int>(acc)});
  Cost cost =
      output_cost(lanes * instance.parameter("OW"), channel_shift_stages(instance.parameters));
  if (blocks > 1) {
    lane.lut += static_cast<double>(acc) * shifter_luts(bits);
    lane.ff += static_cast<double>(acc + instance.parameter("IW"));
    cost += table_cost(lanes * bits, blocks, image_of(design, instance, "LEFT_FILE"));
    cost += counter_cost(blocks);
  }
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

}  // namespace

std::vector<ModuleRow> elementwise_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"};
  return {
      {.name = "mase_round",
       .folder = "elementwise",
       .doc = "rounding, and whether bounds are passed"},
      {.name = "mase_requantise_stage",
       .folder = "elementwise",
       .doc = "rounding, registers and clamping",
       .uses = {"mase_round"}},
      {.name = "mase_less",
       .folder = "elementwise",
       .doc = "whether a number is less than another",
       .families = {"ecp5"}},
      CastModule::row(),
      LookupModule::row(),
      PiecewiseModule::row(),
      BinaryModule::row(),
      DivideModule::row(),
      SquareRootModule::row(),
      ScaleShiftModule::row(),
      {.name = "mase_channel_shift",
       .folder = "elementwise",
       .doc = "accumulators of channels to one binary point",
       .uses = {"mase_requantise_stage", "mase_rom", "mase_skid"},
       .inputs = in,
       .outputs = out,
       .handshake = make_channel_shift,
       .cost = channel_shift_cost,
       .paths = channel_shift_paths},
  };
}

}  // namespace mase::design
