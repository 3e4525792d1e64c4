// SPDX-License-Identifier: Apache-2.0
// Hardware metadata: how every node becomes hardware, in the schema of the reference system.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/design/clock.hpp"
#include "hardware/design/design.hpp"
#include "hardware/design/distribution.hpp"
#include "hardware/design/folding/packing.hpp"
#include "ir/graph.hpp"
#include "passes/pass.hpp"

namespace mase::design {

/// The technology of the clock that was reported for the design of this pipeline.
struct ClockFamily {
  std::string_view name;
};

/// Chooses how far every layer is unfolded and records it, with what follows from it, as `hardware`
/// of every node: is_implicit (no hardware of its own), interface, toolchain, module, device_id,
/// dependence_files, max_parallelism, verilog_param (precision, size and parallelism of every
/// operand; DIM_0 is innermost), `fold`, by step: {in_lanes, out_lanes, parallel_window,
/// multiplier, and packing where outputs share multipliers}, and `fifos`, the depths of the FIFOs
/// in front of it; the output node has the predicted `cycles`. Sizes are those of one frame in
/// stream order, channels last.
///
/// Options: a target (initiation_interval, or limits lut, dsp, bram), or max_parallelism, and
/// tables `layers.NODE` with simd, pe, parallel_window, multiplier and packing that fix the fold of
/// a node. Without any: one element a cycle at the ports, but at most about 256 multipliers (see
/// Target). With `keep` and no target: the folds that the graph has already, where it has some.
/// `reloadable` designs take the weights of any checkpoint of the same graph and formats.
///
/// Where `devices` says nothing, nodes keep the device_id that they have, and all get `device_id`
/// if it is given. Values that another device reads go there by links.
struct AddHardwareMetadata {
  static constexpr passes::PassDoc doc{
      "add_hardware_metadata", passes::PassKind::analysis,
      "Choose parallelism and modules, record them on every node."};
  struct Options : DeviceOptions {
    std::optional<std::int64_t> initiation_interval;
    std::optional<double> lut, dsp, bram;
    std::vector<std::int64_t> max_parallelism;
    std::string multiplier = "auto";
    std::optional<bool> packing;
    std::string dsp_block{default_dsp_block};
    std::int64_t device_id = -1;
    bool keep = false;
    std::string family{default_technology};
    double clock_mhz = default_clock_mhz;
    bool reloadable = false;
    static constexpr auto fields() {
      const std::tuple own{
          Field{"initiation_interval", &Options::initiation_interval,
                "cycles between frames, at most"}
              .at_least(1)
              .target(),
          Field{"lut", &Options::lut, "LUTs, at most"}.at_least(0).target(),
          Field{"dsp", &Options::dsp, "DSP blocks, at most"}.at_least(0).target(),
          Field{"bram", &Options::bram, "RAMB36 blocks, at most"}.at_least(0).target(),
          Field{"max_parallelism", &Options::max_parallelism,
                "lanes of every stream, at most: the first number; [] for no bound"}
              .at_least(1)
              .rare()
              .target(),
          Field{"multiplier", &Options::multiplier, "what multiplies"}
              .one_of("auto", "dsp", "fabric")
              .target(),
          Field{"packing", &Options::packing,
                "whether outputs share multipliers; NA: where that saves"}
              .rare()
              .target(),
          Field{"dsp_block", &Options::dsp_block, "whose multipliers these are"}.one_of(
              "dsp48e1", "dsp48e2", "dsp58", "mult18x18d", "none"),
          Field{"device_id", &Options::device_id, "device that all nodes are for"}.at_least(-1),
          Field{"keep", &Options::keep, "the folds that the model has, if any; without a target"},
          Field{"family", &Options::family, "FPGAs that the clock is predicted for"}.one_of("ecp5",
                                                                                            "xc7"),
          Field{"clock_mhz", &Options::clock_mhz,
                "clock of that family; where it is missed, matrices get pipeline stages"}
              .between(0.001, 10000),
          Field{"reloadable", &Options::reloadable,
                "weights, biases and scales in memories that a host may write; bounds hold for all "
                "codes of their formats"}};
      return std::tuple_cat(own, DeviceOptions::fields());
    }
  };
  /// One table of `layers`.
  struct Layer {
    std::optional<std::int64_t> simd, pe;
    bool parallel_window = false;
    std::string multiplier = "auto";
    std::optional<bool> packing;
    static constexpr auto fields() {
      return std::tuple{
          Field{"simd", &Layer::simd, "elements taken per cycle"}.at_least(1),
          Field{"pe", &Layer::pe, "elements given per cycle"}.at_least(1),
          Field{"parallel_window", &Layer::parallel_window, "a whole window per cycle"},
          Field{"multiplier", &Layer::multiplier, "what multiplies"}.one_of("auto", "dsp",
                                                                            "fabric"),
          Field{"packing", &Layer::packing,
                "whether its outputs share multipliers; NA: as of the design"}};
    }
  };
  /// Whether these options say anything of how steps are folded: a target, or a table of a layer.
  static bool has_target(const Tree& options);
  static void check(const Tree& options, Diagnostics& diagnostics);
  static Tree resolve(const Tree& options);
  static passes::Result run(ir::Graph& graph, const Tree& options, passes::PassContext& context);
};

}  // namespace mase::design
