// SPDX-License-Identifier: Apache-2.0
// Chooses fraction widths, exponent biases and scale rules of a quantized graph from data.
#pragma once

#include "passes/calibration/options.hpp"
#include "passes/pass.hpp"

namespace mase::passes {

/// Chooses the calibrated field (`frac_width` of integer formats, ...) of every port whose format
/// has one, or of the named nodes and ports only. The values come from the tensors of the graph and
/// from the activations of the float model on training rows; info, table and notes are those of
/// calibrate_ports. `quantize` does the same for fields that are set to "auto".
struct Calibrate {
  static constexpr PassDoc doc{"calibrate", PassKind::transform,
                               "Choose the ranges of quantized ports from data.",
                               std::numeric_limits<double>::infinity()};
  static constexpr bool shares_work = true;
  struct Options : CalibrationOptions {
    std::vector<std::string> nodes, ports;
    static constexpr auto fields() {
      return std::tuple_cat(
          calibration_fields("method"),
          std::tuple{Field{"nodes", &Options::nodes, "nodes to calibrate; empty: all"},
                     Field{"ports", &Options::ports, "ports to calibrate; empty: all"}});
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
