// SPDX-License-Identifier: Apache-2.0
// Measures a model by the programs of [metrics], on the results of runs that are made anyway.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "driver/evaluate.hpp"
#include "driver/output.hpp"
#include "driver/session.hpp"

namespace mase::driver {

using MetricPrograms = std::vector<const search::OwnMetric*>;

/// The programs of a configuration.
MetricPrograms metric_programs(const Configuration& configuration);

/// Calls `run` with an evaluator that does what `evaluator` does, and with `options`. Returns what
/// the programs measure of the rows that were run, by metric; empty without programs.
Tree measure_with_programs(const MetricPrograms& programs, const data::Dataset& dataset,
                           data::Part part, EvaluateOptions options, ir::Evaluator& evaluator,
                           const std::function<void(ir::Evaluator&, const EvaluateOptions&)>& run);

/// The metrics of every level of `mase test`.
using LevelMetrics = std::vector<std::pair<std::string, Tree>>;

/// Shows a table with a row per level and metric, and adds them to the JSON document; nothing
/// without programs.
void print_metrics(Output& output, const LevelMetrics& found);

/// Bounds on the programs of a configuration, from texts such as "kappa >= 0.8". DiagnosticsError
/// for a text that is none, or names another metric.
std::vector<search::Constraint> metric_bounds(const std::vector<std::string>& texts,
                                              const Configuration& configuration);

/// Whether the metrics of every level keep the bounds; an error in the log names each that does
/// not.
bool keep_bounds(const LevelMetrics& found, const std::vector<search::Constraint>& bounds);

}  // namespace mase::driver
