// SPDX-License-Identifier: Apache-2.0
// Chooses fraction widths, exponent biases and scale rules of a quantized graph from data.
#pragma once

#include "passes/calibration/options.hpp"
#include "passes/pass.hpp"

namespace mase::passes {

/// For every port whose format has a field to calibrate (`frac_width` of integer formats, ...), or
/// for those of the named nodes and ports, chooses the field's value from the tensors of the graph
/// and from the activations of the float model on training rows; see calibrate_ports, whose info,
/// table and notes these are. `quantize` does the same for fields that it is given as "auto".
struct Calibrate {
  static constexpr PassDoc doc{"calibrate", PassKind::transform,
                               "Choose the ranges of quantized ports from data.",
                               std::numeric_limits<double>::infinity()};
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
