// SPDX-License-Identifier: Apache-2.0
// Lets the programs measure the outputs of every trial's model.
#include "search/own_metrics/own_runner.hpp"

namespace mase::search {

BasicEvaluation rows_of(const Runners& runners) {
  if (runners.evaluation) return *runners.evaluation;
  if (runners.training) return {runners.training->data_loader, {}};
  if (runners.distance) return {runners.distance->data_loader, runners.distance->num_samples};
  return {};
}

OwnPrograms::OwnPrograms(const Bench& bench, const Options& options, bool others_run)
    : bench_(bench), programs_(options.needed_programs()) {
  if (programs_.empty()) return;
  check_programs(programs_, *bench.dataset);
  if (!others_run) batches_.emplace(batches_of(*bench.dataset, rows_of(options.runners)));
}

SeeResults OwnPrograms::seer(MetricRows& rows) const {
  if (programs_.empty()) return {};
  return [&](const data::Batch& batch, const ir::Results& results) {
    rows.add_outputs(results);
    rows.add_data(*bench_.dataset, batch);
  };
}

Tree OwnPrograms::measure(MetricRows& rows, const ir::Graph& graph, ir::Level level) const {
  if (programs_.empty()) return Tree::dict();
  if (batches_) {
    const auto evaluator = bench_.evaluator(graph, level);
    const SeeResults see = seer(rows);
    batches_->for_each([&](const data::Batch& batch) { see(batch, evaluator->run(batch.inputs)); });
  }
  return rows.measure();
}

}  // namespace mase::search
