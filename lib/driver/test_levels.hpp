// SPDX-License-Identifier: Apache-2.0
// The levels of `mase test`: a model is measured at each of them, by its scores or by its distance
// from float.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/evaluate.hpp"
#include "driver/metric_programs.hpp"
#include "driver/session.hpp"
#include "driver/test_bounds.hpp"

namespace mase::driver {

/// Whether any port of the graph has a number format.
bool has_formats(const ir::Graph& graph);

/// Measures a model at one level, on the rows of a part. Returns the numbers that it will print, by
/// the names that --require has for them.
using MeasureLevel = std::function<Tree(const std::string& level, ir::Evaluator& evaluator,
                                        data::Part part, const EvaluateOptions& options)>;

/// An evaluator of the graph, whose runs the processes of the session share if there are several.
std::unique_ptr<ir::Evaluator> shared_evaluator(const Session& session, const ir::Graph& graph,
                                                ir::Level level);

/// Runs the batches of another rank than 0, which measures, at all levels. Returns 0.
int help_to_test(const Session& session, const TestRequest& request, const ir::Graph& graph,
                 const data::Dataset& dataset);

/// Calls `measure` for every requested level, whose names are all checked before the first run. A
/// model without formats is "float" at every level. Metrics of the user's own are measured on the
/// same runs.
std::vector<LevelFound> for_each_level(const Session& session, const TestRequest& request,
                                       const ir::Graph& graph, const MeasureLevel& measure);

/// Ends `mase test`: shows metrics of the user's own, checks the goals that all tasks have, and
/// stores what was shown as `test_PART_LEVEL` for `mase report`. Returns the exit code; `met` says
/// whether the other goals are met.
int finish_test(Session& session, const TestRequest& request, const std::vector<LevelFound>& found,
                const std::vector<TestBound>& bounds, bool met = true);

/// `mase test` without labels: shows the distance of every output from the float model at every
/// level, and returns the exit code.
int test_distance(Session& session, const TestRequest& request, const ir::Graph& graph,
                  const data::Dataset& dataset, const std::vector<TestBound>& bounds);
/// The figures of one output that this shows.
std::vector<std::string> distance_figures();

/// `mase test` of any tasks and outputs: shows the figures of every target at every level, and
/// returns the exit code.
int test_figures(Session& session, const TestRequest& request, const ir::Graph& graph,
                 const data::Dataset& dataset, const std::vector<TestBound>& bounds);

}  // namespace mase::driver
