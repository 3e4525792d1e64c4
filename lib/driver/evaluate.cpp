// SPDX-License-Identifier: Apache-2.0
// A loop over batches. The counter does the arithmetic.
#include "driver/evaluate.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace mase::driver {

namespace {

/// Calls visit(batch) for the batches of a part, in order, and returns their number of rows.
template <class Visitor>
std::int64_t for_each_batch(const data::Dataset& dataset, data::Part part,
                            const EvaluateOptions& options, Visitor&& visit) {
  const std::vector<std::int64_t>& rows = dataset.rows(part);
  const auto all = static_cast<std::int64_t>(rows.size());
  const std::int64_t total = std::min(all, options.max_rows.value_or(all));
  std::int64_t batches = 0, done = 0;
  while (done < total) {
    stop_if_asked();
    if (options.max_batches >= 0 && batches++ >= options.max_batches) break;
    const std::int64_t count = std::min(options.batch_size, total - done);
    visit(dataset.narrow_batch(rows, done, count));
    done += count;
    if (options.progress) options.progress(done, total);
  }
  return done;
}

void add_outputs(const ir::Results& reference, const ir::Results& results,
                 std::vector<OutputDistance>& outputs) {
  MASE_CHECK(reference.size() == results.size(), "the levels of a model have other outputs");
  outputs.resize(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = reference[i].first;
    outputs[i].name = name.empty() ? "output" : name;
    outputs[i].distance.add(reference[i].second, results[i].second);
  }
}

}  // namespace

data::Scores evaluate(ir::Evaluator& evaluator, const data::Dataset& dataset, data::Part part,
                      const EvaluateOptions& options) {
  data::ScoreCounter counter(dataset.labels().classes());
  for_each_batch(dataset, part, options, [&](const data::Batch& batch) {
    counter.add(data::outputs_for(dataset, evaluator.run(batch.inputs)).front(),
                batch.targets.front());
  });
  return counter.scores();
}

data::RowScores measure_targets(ir::Evaluator& evaluator, const data::Dataset& dataset,
                                data::Part part, const EvaluateOptions& options) {
  data::Scorers scorers(dataset.targets);
  for_each_batch(dataset, part, options, [&](const data::Batch& batch) {
    scorers.add(batch.targets.front().shape().front(),
                data::outputs_for(dataset, evaluator.run(batch.inputs)), batch.targets);
  });
  return scorers.scores();
}

void run_batches(const std::vector<ir::Evaluator*>& evaluators, const data::Dataset& dataset,
                 data::Part part, const EvaluateOptions& options) {
  for_each_batch(dataset, part, options, [&](const data::Batch& batch) {
    for (ir::Evaluator* const evaluator : evaluators) evaluator->run(batch.inputs);
  });
}

Distances compare_outputs(ir::Evaluator& reference, ir::Evaluator& evaluator,
                          const data::Dataset& dataset, data::Part part,
                          const EvaluateOptions& options) {
  Distances found;
  found.rows = for_each_batch(dataset, part, options, [&](const data::Batch& batch) {
    // One after the other, as run_batches does: processes that share runs must agree on the order.
    const ir::Results exact = reference.run(batch.inputs);
    add_outputs(exact, evaluator.run(batch.inputs), found.outputs);
  });
  return found;
}

}  // namespace mase::driver
