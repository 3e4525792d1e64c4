// SPDX-License-Identifier: Apache-2.0
// Calibration: choosing one field of each port's format from the values that the port carries.
#pragma once

#include <string>
#include <vector>

#include "passes/calibration/options.hpp"
#include "passes/pass.hpp"
#include "passes/statistics/values.hpp"

namespace mase::passes {

/// A port of a node: the names of both.
struct PortName {
  std::string node, port;
  std::string text() const { return "node '" + node + "', port " + port; }
};

/// Where the values of a port come from: parameters, results of nodes, states of recurrent nodes.
Source source_at(const ir::Graph& graph, const PortName& name);

/// Replaces the format at each of `ports` by the one that the method chooses. Per port it reports a
/// table row and an entry of info["calibrated"] {"node", "port", "format", "field", "value",
/// "largest", "values", "saturated"}. `saturated` is the share of calibration values for which
/// Format::saturates holds; a note names every port where it is above `saturation_warning`. A port
/// that carries only zeros keeps its format. A format that is per_channel() gets the value that
/// suits each channel alone, at most 16 bits finer than the least one.
///
/// Weights and biases come from the graph, activations from the float model (formats ignored) on
/// `num_samples` rows of data. Every method except kl is exact over all values: the data runs
/// twice, first for magnitudes and then for all candidates at once; memory holds one batch, the
/// scores of the ports with activations, and those of one port that only carries parameters.
/// Error(Fault::config) for activations without data, and for kl with a format whose field does not
/// act on single values. Error(Fault::file) names a port that carries NaN or infinity.
void calibrate_ports(ir::Graph& graph, const std::vector<PortName>& ports,
                     const CalibrationOptions& options, const PassContext& context, Result& result);

}  // namespace mase::passes
