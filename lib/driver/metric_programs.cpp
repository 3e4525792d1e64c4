// SPDX-License-Identifier: Apache-2.0
// Keeps the results of an evaluator's runs for the programs.
#include "driver/metric_programs.hpp"

#include <algorithm>

#include "search/own_metrics/metric_rows.hpp"

namespace mase::driver {
namespace {

/// Adds the results of all runs to the rows of metrics.
class RecordedEvaluator final : public ir::Evaluator {
 public:
  RecordedEvaluator(ir::Evaluator& evaluator, search::MetricRows& rows)
      : evaluator_(evaluator), rows_(rows) {}

  ir::Results run(const std::vector<Array>& inputs) override {
    ir::Results results = evaluator_.run(inputs);
    rows_.add_outputs(results);
    return results;
  }
  ir::Results run(const std::vector<Array>& inputs, const ir::Observer& observer) override {
    return evaluator_.run(inputs, observer);
  }

 private:
  ir::Evaluator& evaluator_;
  search::MetricRows& rows_;
};

}  // namespace

MetricPrograms metric_programs(const Configuration& configuration) {
  MetricPrograms programs;
  for (const search::OwnMetric& metric : configuration.metrics.rows)
    if (metric.is_program()) programs.push_back(&metric);
  return programs;
}

Tree measure_with_programs(const MetricPrograms& programs, const data::Dataset& dataset,
                           data::Part part, EvaluateOptions options, ir::Evaluator& evaluator,
                           const std::function<void(ir::Evaluator&, const EvaluateOptions&)>& run) {
  if (programs.empty()) {
    run(evaluator, options);
    return Tree::dict();
  }
  search::MetricRows rows(programs);
  RecordedEvaluator recorded(evaluator, rows);
  std::int64_t done = 0;
  options.progress = [&done, show = options.progress](std::int64_t now, std::int64_t of) {
    done = now;
    if (show) show(now, of);
  };
  run(recorded, options);
  for (std::int64_t first = 0; first < done; first += options.batch_size)
    rows.add_data(dataset, dataset.batch(dataset.rows(part), first,
                                         std::min(options.batch_size, done - first)));
  return rows.measure();
}

}  // namespace mase::driver
