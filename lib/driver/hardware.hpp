// SPDX-License-Identifier: Apache-2.0
// What emit, simulate and the levels `integer` and `rtl` share: quantized checkpoints and emitted
// folders, all without LibTorch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/commands.hpp"
#include "driver/config_file.hpp"
#include "driver/settings.hpp"
#include "hardware/design/design.hpp"
#include "hardware/emit/emit.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// `<project_dir>/<project>/hardware`, or the folder given.
std::string hardware_folder(const Settings& settings, const std::optional<std::string>& given);

/// The graph of a quantized checkpoint, weights, tensor hash and integer codes verified.
/// Error(Fault::file) for other files, saying how to make one; Error(Fault::config) where the
/// configuration describes the user's ops in another way than the checkpoint does.
ir::Graph load_quantized(const Configuration& configuration);

/// Before a tool reads hardware. Error(Fault::config) where the graph brings SystemVerilog along
/// that neither the configuration has nor the user allows.
void check_external(const ir::Graph& graph, const Configuration& configuration,
                    const HardwareRequest& request);

/// An emitted folder and the design it holds.
struct Hardware {
  std::string folder;
  design::Design design;
  emit::EmitOptions options;
};
/// Rebuilds the design of `folder` from the checkpoint's graph and the folds stored there.
Hardware read_hardware(const std::string& folder, ir::Graph graph);
/// The same, and checks that the folder holds exactly that design (the vectors are any
/// whose hashes design.json has).
/// Error(Fault::file) naming the first file that differs.
Hardware open_hardware(const std::string& folder, ir::Graph graph);

/// The design of `folder`, which was emitted from another checkpoint, with the weights of this one.
/// Error(Fault::file) saying where they differ when the hardware cannot take them.
Hardware reload_hardware(const std::string& folder, ir::Graph graph);

/// The same, and checks that what is built there to simulate it is what this design gives.
Hardware open_reload_hardware(const std::string& folder, ir::Graph graph);

/// Runs batches through the emitted hardware with Verilator; every beat is compared with the
/// integer model, and a difference is Error(Fault::goal).
std::unique_ptr<ir::Evaluator> make_rtl_evaluator(Hardware hardware);

}  // namespace mase::driver
