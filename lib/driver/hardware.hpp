// SPDX-License-Identifier: Apache-2.0
// Opens quantized checkpoints and emitted folders for emit, simulate and the levels `integer` and
// `rtl`. None of it needs LibTorch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/commands/commands.hpp"
#include "driver/config_file.hpp"
#include "driver/settings.hpp"
#include "hardware/design/design.hpp"
#include "hardware/emit/emit.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// The given folder, or `<project_dir>/<project>/hardware`.
std::string hardware_folder(const Settings& settings, const std::optional<std::string>& given);

/// Loads the graph of a quantized checkpoint and verifies its weights, tensor hash and integer
/// codes. Error(Fault::file) for other files, saying how to make a checkpoint; Error(Fault::config)
/// if the configuration describes the user's ops differently than the checkpoint.
ir::Graph load_quantized(const Configuration& configuration);

/// To be called before a tool reads hardware. Error(Fault::config) if SystemVerilog came with the
/// graph that is not in the configuration and that the user has not allowed.
void check_external(const ir::Graph& graph, const Configuration& configuration,
                    const HardwareRequest& request);

/// An emitted folder and the design that it contains.
struct Hardware {
  std::string folder;
  design::Design design;
  emit::EmitOptions options;
};
/// Rebuilds the design in `folder` from the checkpoint's graph and the folding stored there.
Hardware read_hardware(const std::string& folder, ir::Graph graph);
/// The same, and checks that the files in the folder are exactly those of the design; test vectors
/// only have to match their hashes in design.json.
/// Error(Fault::file) that names the first file that differs.
Hardware open_hardware(const std::string& folder, ir::Graph graph);

/// The design in `folder`, which was emitted from another checkpoint, with the weights of this one.
/// Error(Fault::file) that tells the difference if the hardware cannot take these weights.
Hardware reload_hardware(const std::string& folder, ir::Graph graph);

/// The same, and checks that the sources in the folder are those of this design.
Hardware open_reload_hardware(const std::string& folder, ir::Graph graph);

/// An evaluator that runs batches through the emitted hardware with Verilator. It compares every
/// beat with the integer model and throws Error(Fault::goal) for a difference.
std::unique_ptr<ir::Evaluator> make_rtl_evaluator(Hardware hardware);

}  // namespace mase::driver
