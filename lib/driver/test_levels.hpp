// SPDX-License-Identifier: Apache-2.0
// The levels of `mase test`: a model is measured at each of them, by its scores or by its distance
// from float.
#pragma once

#include <functional>
#include <string>

#include "driver/evaluate.hpp"
#include "driver/metric_programs.hpp"
#include "driver/session.hpp"

namespace mase::driver {

/// Whether any port of the graph has a number format.
bool has_formats(const ir::Graph& graph);

/// Measures a model at one level, on the rows of a part.
using MeasureLevel = std::function<void(const std::string& level, ir::Evaluator& evaluator,
                                        data::Part part, const EvaluateOptions& options)>;

/// Calls `measure` for every requested level, whose names are all checked before the first run. A
/// model without formats is "float" at every level. Returns what the programs of [metrics]
/// measure of the same runs.
LevelMetrics for_each_level(const Session& session, const TestRequest& request,
                            const ir::Graph& graph, const MeasureLevel& measure);

/// Whether a share of right predictions is at least `required` percent; an error in the log says
/// where it is not.
bool is_accurate(const std::string& level, double accuracy, double required);

/// Stores what was shown as `test_PART_LEVEL` for `mase report`.
void record_test(const Session& session, const TestRequest& request, const std::string& level);

/// `mase test` without labels: shows the distance of every output from the float model at every
/// level, and returns the exit code.
int test_distance(Session& session, const TestRequest& request, const ir::Graph& graph,
                  const data::Dataset& dataset);

/// `mase test` of any tasks and outputs: shows the figures of every target at every level, and
/// returns the exit code.
int test_figures(Session& session, const TestRequest& request, const ir::Graph& graph,
                 const data::Dataset& dataset);

}  // namespace mase::driver
