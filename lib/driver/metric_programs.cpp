// SPDX-License-Identifier: Apache-2.0
// Keeps the results of an evaluator's runs for the programs.
#include "driver/metric_programs.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
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

void print_metrics(Output& output, const LevelMetrics& found) {
  passes::ReportTable table{"Metrics of your own", {"Level", "Metric", "Value"}, {}, ""};
  for (const auto& [level, values] : found)
    for (const auto& [name, value] : values.as_dict()) {
      table.rows.push_back({level, name, fixed_text(value.as_double(), 6)});
      output.document()["metrics"][level][name] = value;
    }
  if (!table.rows.empty()) output.table(table);
}

std::vector<search::Constraint> metric_bounds(const std::vector<std::string>& texts,
                                              const Configuration& configuration) {
  std::vector<std::string> names;
  for (const search::OwnMetric* metric : metric_programs(configuration))
    names.push_back(metric->name);
  if (!texts.empty() && names.empty())
    config_error(
        "--require bounds metrics of your own; give --config FILE.toml with [metrics.NAME]"
        ", or --min-accuracy in its place");
  Diagnostics diagnostics;
  std::vector<search::Constraint> bounds;
  for (const std::string& text : texts)
    if (auto bound = search::parse_constraint(text, {"--require", 0, 0}, diagnostics, names))
      bounds.push_back(*bound);
  diagnostics.throw_if_errors();
  return bounds;
}

bool keep_bounds(const LevelMetrics& found, const std::vector<search::Constraint>& bounds) {
  bool kept = true;
  for (const auto& [level, values] : found)
    for (const search::Constraint& bound : bounds) {
      const double value = values.at(bound.metric).as_double();
      if (bound.excess(value) <= 0) continue;
      kept = false;
      log::error(bound.metric + " is " + fixed_text(value, 6) + " (" + level +
                 "), but the bound is " + bound.text());
    }
  return kept;
}

}  // namespace mase::driver
