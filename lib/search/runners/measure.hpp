// SPDX-License-Identifier: Apache-2.0
// Measure: the metrics of one model, computed anew for every trial on a graph of its own.
#pragma once

#include <memory>
#include <vector>

#include "search/workers/plan.hpp"

namespace mase::search {

/// The runners of a configuration, and what they measure of a graph together.
class Measurer {
 public:
  Measurer(Bench bench, const Options& options);
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;

  /// The original float model as it is: what accuracy_drop counts from.
  Measured baseline(const ir::Graph& graph);
  /// A copy of `graph` with the recipe's passes run on it.
  ir::Graph build(const ir::Graph& graph, const Recipe& recipe) const;
  /// Builds the recipe's model, trains it if asked to, and measures. `made`, if
  /// given, becomes the graph that was measured.
  Measured operator()(const ir::Graph& graph, const Recipe& recipe, const Report& report,
                      ir::Graph* made = nullptr) const;

  /// Whether weights change inside of a trial.
  bool trains() const;
  /// What measures the same metrics of a recipe's model in a pipeline: passes, and rows to evaluate
  /// (nullptr: none).
  std::vector<passes::PassCall> pass_calls(const Recipe& recipe) const;
  const BasicEvaluation* rows() const;

 private:
  struct Given {
    const RunnerRow* row;
    std::unique_ptr<Runner> runner;
    Tree baseline = Tree::dict();
  };
  TellEpoch tell(const Report& report) const;

  Bench bench_;
  const Options& options_;
  std::vector<Given> given_;
};

}  // namespace mase::search
