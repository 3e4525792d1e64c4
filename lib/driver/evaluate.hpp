// SPDX-License-Identifier: Apache-2.0
// Computes the scores of a graph on a part of a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "data/dataset.hpp"
#include "data/metrics.hpp"
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

}  // namespace mase::driver
