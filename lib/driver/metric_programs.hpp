// SPDX-License-Identifier: Apache-2.0
// Measures a model by the programs of [metrics], on the results of runs that are made anyway.
#pragma once

#include <functional>
#include <vector>

#include "driver/evaluate.hpp"
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

}  // namespace mase::driver
