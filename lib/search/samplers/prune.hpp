// SPDX-License-Identifier: Apache-2.0
// Pruning: whether a trial that reports intermediate values is worth going on with.
#pragma once

#include <span>

#include "base/field.hpp"
#include "search/samplers/trial.hpp"

namespace mase::samplers {

/// Optuna's median rule.
struct MedianPruner {
  int n_startup_trials = 5;  ///< complete trials before any is pruned
  int n_warmup_steps = 0;    ///< steps of a trial that are never pruned
  int interval_steps = 1;    ///< steps between two looks
  static constexpr auto fields() {
    using P = MedianPruner;
    return std::tuple{
        Field{"n_startup_trials", &P::n_startup_trials, "completed trials before any is pruned"}
            .at_least(0),
        Field{"n_warmup_steps", &P::n_warmup_steps, "first steps of a trial, never pruned"}
            .at_least(0),
        Field{"interval_steps", &P::interval_steps, "steps between checks"}.at_least(1)};
  }
};

/// Whether `trial`, whose newest report is at its last step, is worse there at its best so far than
/// the median of the complete trials at that step.
bool should_prune(const MedianPruner& pruner, std::span<const Trial> history, const Trial& trial,
                  Direction direction);

}  // namespace mase::samplers
