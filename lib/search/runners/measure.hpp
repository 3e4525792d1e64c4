// SPDX-License-Identifier: Apache-2.0
// Measurer computes the metrics of a trial's model on a separate copy of the graph.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "search/own_metrics/own_runner.hpp"
#include "search/workers/plan.hpp"

namespace mase::search {

/// The runners of a configuration, which together measure a graph.
class Measurer {
 public:
  Measurer(Bench bench, const Options& options);
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;

  /// Measures the original float model, with which accuracy_drop compares.
  Measured baseline(const ir::Graph& graph);
  /// Copies `graph` and runs the recipe's passes on the copy.
  ir::Graph build(const ir::Graph& graph, const Recipe& recipe) const;
  /// Builds the recipe's model, trains it if the configuration asks for it, and measures. `made`,
  /// if given, becomes the graph that was measured.
  Measured operator()(const ir::Graph& graph, const Recipe& recipe, const Report& report,
                      ir::Graph* made = nullptr) const;

  /// Whether a trial changes weights.
  bool trains() const;
  /// The passes that measure the same metrics of a recipe's model in a pipeline, and the rows to
  /// evaluate (or nullptr).
  std::vector<passes::PassCall> pass_calls(const Recipe& recipe) const;
  const BasicEvaluation* rows() const;

 private:
  struct Given {
    const RunnerRow* row;
    std::unique_ptr<Runner> runner;
    Tree baseline = Tree::dict();
  };
  TellEpoch tell(const Report& report) const;
  /// Adds the user's own metrics: what programs measure of the graph, and the sums whose parts were
  /// measured.
  void add_own(const Tree& programs, Measured& measured) const;
  /// Error(Fault::file) for a number that the search needs of a program and that it did not print.
  void require_printed(const Tree& programs) const;

  Bench bench_;
  const Options& options_;
  std::vector<Given> given_;
  const Runner* shown_ = nullptr;  ///< the runner whose results the user's programs get
  std::optional<OwnPrograms> own_;
};

}  // namespace mase::search
