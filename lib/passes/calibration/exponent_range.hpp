// SPDX-License-Identifier: Apache-2.0
// Choosing the range of the exponents that blocks share from the values that a port carries.
#pragma once

#include <string>
#include <vector>

#include "passes/calibration/calibrator.hpp"

namespace mase::passes {

/// A port and which of exponent_min and exponent_max of its format are chosen.
struct BoundedPort {
  PortName name;
  std::vector<std::string> fields;
};

/// The squared error that a lowest exponent may add to that of rounding without one: 0.1 %, which
/// is 0.004 dB. A hundredth costs the class token of vit-tiny, which is small beside the patches of
/// its residual stream, 5 dB at the head.
inline constexpr double added_error = 0.001;

/// Sets these fields of the formats at `ports`, which are formats of the microscaling family:
/// - exponent_max: one more than the exponent of the largest block, or the format's highest;
/// - exponent_min: the greatest one with which the sum of (q(x) - x)^2 grows by at most
///   `added_error`, but no less than 24 below the largest block's. The error of a block's elements
///   follows 4^exponent, so that coarser steps of small blocks hardly add to it.
/// A port of zeros keeps its format. Each port has a row in a table, with the SQNR that
/// exponent_min costs, and an entry in info["exponents"]: {"node", "port", "format",
/// "sqnr_loss_db"}.
///
/// The data are those of calibrate_ports: the float model runs twice on `num_samples` rows, and
/// memory holds one batch. Error(Fault::config) for activations without data; Error(Fault::file)
/// names a port that carries NaN or infinity.
void bound_exponents(ir::Graph& graph, const std::vector<BoundedPort>& ports,
                     const CalibrationOptions& options, const PassContext& context, Result& result);

}  // namespace mase::passes
