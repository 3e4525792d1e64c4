// SPDX-License-Identifier: Apache-2.0
// Modules of the user's: rows made of what [custom_ops.NAME.hardware] states.
#include "hardware/design/module_table.hpp"
#include "hardware/design/timing/handshake/paced_pipe.hpp"
#include "ir/custom_op.hpp"

namespace mase::design {

ModuleRow external_module(const ir::CustomHardware& hardware) {
  ModuleRow row;
  row.name = hardware.module;
  row.doc = "a module of the user's";
  row.uses = {"mase_skid"};
  row.inputs = {hardware.input};
  row.outputs = {hardware.output};
  row.files = hardware.files;
  row.handshake = [latency = static_cast<int>(hardware.latency), interval = hardware.interval](
                      const ModuleParameters&, Stages kept) -> std::unique_ptr<Handshake> {
    return std::make_unique<PacedPipeHandshake>(latency - 1, interval, kept);
  };
  const Cost lane{hardware.lut, hardware.ff, hardware.carry, hardware.dsp, hardware.bram};
  row.cost = [lane](const Design& design, const Instance& instance) {
    return scaled(lane, static_cast<double>(design.stream(instance.outputs[0]).lanes));
  };
  return row;
}

}  // namespace mase::design
