// SPDX-License-Identifier: Apache-2.0
// Runs every trial's model on the rows, and lets the programs measure its outputs.
#include "search/own_metrics/own_runner.hpp"

#include "search/own_metrics/metric_rows.hpp"

namespace mase::search {
namespace {

class OwnRunner : public Runner {
 public:
  OwnRunner(const Bench& bench, std::vector<const OwnMetric*> programs, const BasicEvaluation& rows)
      : bench_(bench), programs_(std::move(programs)), batches_(batches_of(*bench.dataset, rows)) {
    check_programs(programs_, *bench.dataset);
  }

  Tree baseline(ir::Graph& graph) override { return measure_at(graph, ir::Level::floating); }
  Tree measure(ir::Graph& graph, const Tree&, const Tree&) const override {
    return measure_at(graph, ir::Level::quantized);
  }

 private:
  Tree measure_at(const ir::Graph& graph, ir::Level level) const {
    const auto evaluator = bench_.evaluator(graph, level);
    MetricRows rows(programs_);
    batches_.for_each([&](const data::Batch& batch) {
      rows.add_outputs(evaluator->run(batch.inputs));
      rows.add_data(*bench_.dataset, batch);
    });
    return rows.measure();
  }

  const Bench& bench_;
  std::vector<const OwnMetric*> programs_;
  RowBatches batches_;
};

}  // namespace

BasicEvaluation rows_of(const Runners& runners) {
  if (runners.evaluation) return *runners.evaluation;
  if (runners.training) return {runners.training->data_loader, {}};
  if (runners.distance) return {runners.distance->data_loader, runners.distance->num_samples};
  return {};
}

std::unique_ptr<Runner> make_own_runner(const Bench& bench, const Options& options) {
  std::vector<const OwnMetric*> programs = options.needed_programs();
  if (programs.empty()) return nullptr;
  return std::make_unique<OwnRunner>(bench, std::move(programs), rows_of(options.runners));
}

}  // namespace mase::search
