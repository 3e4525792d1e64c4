// SPDX-License-Identifier: Apache-2.0
// Runner: what measures metrics of a model. One struct per runner says what it is called, its
// options, its metrics, and makes what measures them; everything else about it is its line in
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

/// In which table of [search.strategy] a runner stands, and which part of the metrics is its own.
enum class RunnerKind { software, hardware };
std::string_view kind_table(RunnerKind kind);  ///< "sw_runner", "hw_runner"

/// What a runner is called, where its table stands, and what it does in a sentence.
struct RunnerDoc {
  std::string_view name;
  RunnerKind kind;
  std::string_view sentence;
};

/// Told the loss and accuracy of the validation part after every epoch of training.
using TellEpoch = std::function<void(std::int64_t epoch, const Tree& validation)>;

/// What measuring needs from outside.
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

/// Measures the models of trials, several threads at once.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Changes the model before any runner measures it, as training does.
  virtual void prepare(ir::Graph&, const TellEpoch&) const {}
  /// Metrics of the original float model; empty if they would mean nothing.
  virtual Tree baseline(ir::Graph&) { return Tree::dict(); }
  /// Metrics of a trial's model; `baseline` is what the function of that name gave, `own` has the
  /// trial's options, which stand over those of the runner's table.
  virtual Tree measure(ir::Graph& graph, const Tree& baseline, const Tree& own) const = 0;

  // What measures the same metrics when `mase transform` makes the model again.
  virtual std::optional<passes::PassCall> pass(const Tree&) const { return std::nullopt; }
  virtual const BasicEvaluation* rows() const { return nullptr; }
};

/// A runner that takes its metrics from what a pass finds.
class PassRunner : public Runner {
 public:
  /// The bench must outlive it.
  PassRunner(const Bench& bench, passes::PassCall call);
  std::optional<passes::PassCall> pass(const Tree& own) const final;

 protected:
  /// `info` of the pass, run on the graph with a trial's own options on top.
  Tree info(ir::Graph& graph, const Tree& own = Tree::dict()) const;

 private:
  const Bench& bench_;
  passes::PassCall call_;
};

}  // namespace mase::search
