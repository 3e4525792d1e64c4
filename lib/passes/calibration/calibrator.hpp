// SPDX-License-Identifier: Apache-2.0
// Calibration: choosing one field of each port's format from the values that the port carries.
#pragma once

#include <string>
#include <vector>

#include "passes/calibration/options.hpp"
#include "passes/pass.hpp"

namespace mase::passes {

/// A port of a node, by names.
struct PortName {
  std::string node, port;
  std::string text() const { return "node '" + node + "', port " + port; }
};

/// Replaces the format at each of `ports` by the one that the method chooses, and reports: a table
/// row and an entry of info["calibrated"] per port {"node", "port", "format", "field", "value",
/// "largest", "values", "saturated"}, where `saturated` is the share of all calibration values that
/// Format::saturates says lie beyond the format; and a note for every port where it is above
/// `saturation_warning`. Tensors of zeros keep the format they have. A format that is per_channel()
/// gets the value that suits each channel alone, though none finer than 16 bits beyond the least.
///
/// Weights and biases are taken from the graph, activations from the float model (formats ignored)
/// on `num_samples` rows of data. Every method but kl is exact over every value seen: two runs over
/// the data, the first for magnitudes, the second for all candidates at once; memory is one batch.
/// Error(Fault::config): activations without data; kl for a format whose field does not act on
/// single values. Error(Fault::file): NaN or infinity on a port, which is named.
void calibrate_ports(ir::Graph& graph, const std::vector<PortName>& ports,
                     const CalibrationOptions& options, const PassContext& context, Result& result);

}  // namespace mase::passes
