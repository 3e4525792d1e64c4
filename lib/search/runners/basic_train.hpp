// SPDX-License-Identifier: Apache-2.0
// The runner basic_train, which trains the model of every trial.
#pragma once

#include "search/runners/basic_evaluation.hpp"

namespace mase::search {

/// The table `[search.strategy.sw_runner.basic_train]`: trains in the trial, then evaluates. The
/// table may have any training setting; `training_optimizer` and `schedule` have the reference's
/// names `optimizer` and `lr_scheduler`. Other values come from the training settings.
struct BasicTrain {
  static constexpr RunnerDoc doc{"basic_train", RunnerKind::software,
                                 "Trains the model of every trial, then evaluates it."};
  static constexpr const auto& metrics = score_metrics;
  /// Metrics of the validation part that are reported after every epoch.
  static constexpr std::array<std::string_view, 2> told{"accuracy", "loss"};
  std::string data_loader = "val_dataloader";
  std::optional<int> num_samples, max_steps;
  Tree others = Tree::dict();  ///< the other training settings that were given, by name
  static constexpr auto fields() {
    using B = BasicTrain;
    return std::tuple{
        Field{"data_loader", &B::data_loader, "part to evaluate afterwards"}.one_of(
            "val_dataloader", "test_dataloader"),
        Field{"num_samples", &B::num_samples,
              "rows to train on, counting repetitions; default: all rows of every epoch"}
            .at_least(1),
        Field{"max_steps", &B::max_steps, "maximum optimiser steps"}.at_least(1)};
  }
  static std::vector<FieldInfo> describe();
  static BasicTrain read(const Tree& table, Diagnostics& diagnostics);
  std::unique_ptr<Runner> make(const Bench& bench) const;

  /// The training settings, overridden by those that are given here.
  backend::TrainOptions options(const backend::TrainOptions& settings) const;
};

}  // namespace mase::search
