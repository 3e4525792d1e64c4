// SPDX-License-Identifier: Apache-2.0
// A loop over batches. The counter does the arithmetic.
#include "driver/evaluate.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace mase::driver {

data::Scores evaluate(ir::Evaluator& evaluator, const data::Dataset& dataset, data::Part part,
                      const EvaluateOptions& options) {
  const std::vector<std::int64_t>& rows = dataset.rows(part);
  data::ScoreCounter counter(dataset.classes());
  const auto all = static_cast<std::int64_t>(rows.size());
  const std::int64_t total = std::min(all, options.max_rows.value_or(all));
  std::int64_t batches = 0;
  for (std::int64_t first = 0; first < total; first += options.batch_size) {
    stop_if_asked();
    if (options.max_batches >= 0 && batches++ >= options.max_batches) break;
    const std::int64_t count = std::min(options.batch_size, total - first);
    const data::Batch batch = dataset.batch(rows, first, count);
    const ir::Results results = evaluator.run(batch.inputs);
    counter.add(results.front().second, batch.labels);
    if (options.progress) options.progress(first + count, total);
  }
  return counter.scores();
}

}  // namespace mase::driver
