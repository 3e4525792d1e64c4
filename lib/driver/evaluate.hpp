// SPDX-License-Identifier: Apache-2.0
// Computes the scores of a graph on a part of a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/distance.hpp"
#include "data/metrics.hpp"
#include "data/scorer.hpp"
#include "ir/evaluator.hpp"

namespace mase::driver {

/// How much of a data set to evaluate, and in batches of what size.
struct EvaluateOptions {
  std::int64_t batch_size = 128;
  std::int64_t max_batches = -1;  ///< -1: all
  std::optional<std::int64_t> max_rows;
  std::function<void(std::int64_t rows, std::int64_t of)> progress;
};

/// Runs the rows of `part` through the evaluator, in order. The first result must have the shape
/// [rows, classes].
data::Scores evaluate(ir::Evaluator& evaluator, const data::Dataset& dataset, data::Part part,
                      const EvaluateOptions& options);

/// Runs the rows of `part` through the evaluator, in order, and measures all targets.
data::RowScores measure_targets(ir::Evaluator& evaluator, const data::Dataset& dataset,
                                data::Part part, const EvaluateOptions& options);

/// Runs the rows of `part` through the evaluators, batch by batch, and measures nothing.
void run_batches(const std::vector<ir::Evaluator*>& evaluators, const data::Dataset& dataset,
                 data::Part part, const EvaluateOptions& options);

/// The distance of one output of a model, under the name that the model gives it.
struct OutputDistance {
  std::string name;  ///< "output" for a single tensor; "0", "1", ... or keys for several
  data::Distance distance;
};

/// The distances of all outputs over some rows.
struct Distances {
  std::int64_t rows = 0;
  std::vector<OutputDistance> outputs;
};

/// Runs the rows of `part` through both evaluators, in order, and compares all outputs of the
/// second with those of the first. Labels are not used.
Distances compare_outputs(ir::Evaluator& reference, ir::Evaluator& evaluator,
                          const data::Dataset& dataset, data::Part part,
                          const EvaluateOptions& options);

}  // namespace mase::driver
