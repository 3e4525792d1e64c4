// SPDX-License-Identifier: Apache-2.0
// A Runner measures metrics of a model. For each runner a struct has its name, its options and its
// metrics, and makes the Runner that measures them. Apart from that it needs only its line in
// runners.hpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "backend/training.hpp"
#include "data/dataset.hpp"
#include "ir/evaluator.hpp"
#include "passes/runner.hpp"
#include "search/runners/metrics.hpp"

namespace mase::search {

/// The kind of a runner, which decides its table in [search.strategy] and its part of the metrics.
enum class RunnerKind { software, hardware };
std::string_view kind_table(RunnerKind kind);  ///< "sw_runner", "hw_runner"

/// The name of a runner, its kind, a sentence about what it does, and whether it needs labels,
/// which runners of hardware do not.
struct RunnerDoc {
  std::string_view name;
  RunnerKind kind;
  std::string_view sentence;
  bool needs_labels = kind == RunnerKind::software;
};

/// Called with the loss and accuracy of the validation part after every epoch of training.
using TellEpoch = std::function<void(std::int64_t epoch, const Tree& validation)>;

/// What runners need from outside to measure.
struct Bench {
  const data::Dataset* dataset = nullptr;
  ir::MakeEvaluator evaluator;
  backend::TrainOptions training;  ///< the training settings
  /// Trains the graph in place.
  std::function<void(ir::Graph& graph, const backend::TrainOptions& options, const TellEpoch& tell)>
      train;
  const passes::PassTable* passes = nullptr;
  passes::PassContext context;
};

struct BasicEvaluation;

/// Sees a batch and what the model made of it; may be empty.
using SeeResults = std::function<void(const data::Batch& batch, const ir::Results& results)>;

/// What a runner gets with the model of a trial.
struct TrialInput {
  const Tree& baseline;   ///< the result of Runner::baseline
  const Tree& own;        ///< the trial's options, which override those of the runner's table
  const SeeResults& see;  ///< sees the results if the runner runs the model on rows
};

/// Measures the models of trials. Several threads may use it at once.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Changes the model before any runner measures it, as training does.
  virtual void prepare(ir::Graph&, const TellEpoch&) const {}
  /// The metrics of the original float model, if they are meaningful.
  virtual Tree baseline(ir::Graph&, const SeeResults&) { return Tree::dict(); }
  /// The metrics of a trial's model.
  virtual Tree measure(ir::Graph& graph, const TrialInput& trial) const = 0;
  /// Whether it runs the model on rows, and shows the results.
  virtual bool runs_model() const { return false; }

  // The pass or rows that measure the same metrics when `mase transform` makes the model again.
  virtual std::optional<passes::PassCall> pass(const Tree&) const { return std::nullopt; }
  virtual const BasicEvaluation* rows() const { return nullptr; }
};

/// A runner that takes its metrics from the result of a pass.
class PassRunner : public Runner {
 public:
  /// The bench must outlive it.
  PassRunner(const Bench& bench, passes::PassCall call);
  std::optional<passes::PassCall> pass(const Tree& own) const final;

 protected:
  /// Runs the pass on the graph, with a trial's own options added, and returns its `info`.
  Tree info(ir::Graph& graph, const Tree& own = Tree::dict()) const;

 private:
  const Bench& bench_;
  passes::PassCall call_;
};

}  // namespace mase::search
