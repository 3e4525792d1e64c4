// SPDX-License-Identifier: Apache-2.0
// The runner basic_evaluation, and the evaluation on rows of a data set that others share with it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "data/scorer.hpp"
#include "search/runners/row_batches.hpp"
#include "search/runners/runner.hpp"

namespace mase::search {

/// A figure of a task as a metric.
constexpr MetricDoc metric_of(const data::FigureRow& row) {
  return {row.name, row.more_is_better ? Direction::maximize : Direction::minimize, row.doc};
}

/// The metrics of all tasks; a model has those of its own.
inline constexpr std::array score_metrics{
    metric_of(data::figures::accuracy),
    metric_of(data::figures::macro_accuracy),
    metric_of(data::figures::loss),
    metric_of(data::figures::perplexity),
    MetricDoc{"accuracy_drop", Direction::minimize,
              "accuracy lost against the float model, in points"},
    MetricDoc{"accuracy_drop_bound", Direction::minimize,
              "upper bound of accuracy_drop on similar rows, with 95 % confidence"},
    metric_of(data::figures::miou),
    metric_of(data::figures::f1),
    metric_of(data::figures::exact),
    metric_of(data::figures::precision),
    metric_of(data::figures::recall),
    metric_of(data::figures::mse),
    metric_of(data::figures::rmse),
    metric_of(data::figures::mae),
    metric_of(data::figures::r2),
    metric_of(data::figures::worst)};

/// The table `[search.strategy.sw_runner.basic_evaluation]`.
struct BasicEvaluation {
  static constexpr RunnerDoc doc{"basic_evaluation", RunnerKind::software,
                                 "Runs the model of every trial on rows of the data set."};
  static constexpr const auto& metrics = score_metrics;
  std::string data_loader = "val_dataloader";
  std::optional<int> num_samples;
  static constexpr auto fields() {
    using B = BasicEvaluation;
    return std::tuple{
        Field{"data_loader", &B::data_loader, "part of the data set"}.one_of(
            "train_dataloader", "val_dataloader", "test_dataloader"),
        Field{"num_samples", &B::num_samples, "rows to evaluate; default: all"}.at_least(1)};
  }
  static BasicEvaluation read(const Tree& table, Diagnostics& diagnostics);
  std::unique_ptr<Runner> make(const Bench& bench) const;
};

/// Accepts both `dataloader`, which the reference's runner reads, and `data_loader` of its files.
Tree with_data_loader(const Tree& table);

/// The rows that a runner evaluates. If there are fewer rows than requested, all are used, with a
/// warning.
RowBatches batches_of(const data::Dataset& dataset, const BasicEvaluation& rows_of);

data::RowScores score(ir::Evaluator& evaluator, const RowBatches& batches,
                      const SeeResults& see = {});

/// The loss of accuracy in percentage points, from two shares of the same `rows` rows. It counts
/// rows as integers, so that a loss of 5 of 500 rows is exactly 1 and satisfies a bound of 1.0.
double accuracy_drop(double before, double after, std::int64_t rows);

/// The upper 95 % bound of the loss of accuracy in points, from the same rows before and after (1
/// for a correct prediction). Rows that both models predict correctly carry no information about
/// the difference. (Paired Wald interval with half a row added to each of the four cells: Agresti
/// and Min 2005, Stat. Med. 24:729.)
double accuracy_drop_bound(std::span<const std::uint8_t> before,
                           std::span<const std::uint8_t> after);

/// The figures by name. A figure that only one of several targets has also stands without the name
/// of the target, and `loss` is the sum over the targets.
Tree figures_tree(const data::Figures& figures);

/// A runner that measures `score_metrics` on the rows.
class ScoreRunner : public Runner {
 public:
  /// The bench must outlive it.
  ScoreRunner(const Bench& bench, BasicEvaluation rows);
  Tree baseline(ir::Graph& graph, const SeeResults& see) final;
  Tree measure(ir::Graph& graph, const TrialInput& trial) const final;
  bool runs_model() const final { return true; }
  const BasicEvaluation* rows() const final { return &rows_; }

 protected:
  const Bench& bench() const { return bench_; }

 private:
  data::RowScores scores(const ir::Graph& graph, ir::Level level, const SeeResults& see) const;

  const Bench& bench_;
  BasicEvaluation rows_;
  RowBatches batches_;
  std::vector<std::uint8_t> float_hits_;  ///< for the baseline
};

}  // namespace mase::search
