// Measure: the metrics of one model, computed anew for every trial on a graph of its own.
#pragma once

#include <vector>

#include "data/dataset.hpp"
#include "data/metrics.hpp"
#include "ir/evaluator.hpp"
#include "passes/runner.hpp"
#include "search/workers/plan.hpp"

namespace mase::search {

/// What measuring needs from outside.
struct Bench {
  const data::Dataset* dataset = nullptr;
  ir::MakeEvaluator evaluator;
  /// Trains the graph in place, telling the loss and accuracy of the validation part after
  /// every epoch.
  std::function<void(ir::Graph& graph, const BasicTrain& options,
                     const std::function<void(std::int64_t epoch, const Tree& validation)>& tell)>
      train;
  const passes::PassTable* passes = nullptr;
  passes::PassContext context;
};

/// The rows that a runner evaluates, in batches of 512; all of them, with a warning, when there are
/// fewer than asked for.
std::vector<data::Batch> gather_rows(const data::Dataset& dataset, const BasicEvaluation& rows_of);

data::Scores score(ir::Evaluator& evaluator, const std::vector<data::Batch>& batches,
                   std::int64_t classes);

/// {"accuracy", "loss", "macro_accuracy"}.
Tree scores_tree(const data::Scores& scores);

class Measurer {
 public:
  Measurer(Bench bench, const Options& options);

  /// The original float model as it is: what accuracy_drop counts from.
  Measured baseline(const ir::Graph& graph);
  /// Runs the passes on a copy of `graph`, trains it if asked to, and measures. `made`, if given,
  /// becomes the graph that was measured.
  Measured operator()(const ir::Graph& graph, const std::vector<passes::PassCall>& calls,
                      const Report& report, ir::Graph* made = nullptr) const;

 private:
  Tree scores(const ir::Graph& graph, ir::Level level) const;
  double average_bits(ir::Graph& graph) const;
  Tree hardware(ir::Graph& graph) const;
  void train(ir::Graph& graph, const Report& report) const;
  Tree run_pass(const char* name, const Tree& options, ir::Graph& graph) const;

  Bench bench_;
  const Options& options_;
  std::vector<data::Batch> batches_;
  std::optional<double> baseline_accuracy_;
};

}  // namespace mase::search
