// SPDX-License-Identifier: Apache-2.0
// Pruning: decides whether a trial that reports intermediate values should continue.
#pragma once

#include <span>

#include "base/field.hpp"
#include "search/samplers/trial.hpp"

namespace mase::samplers {

/// Optuna's median rule.
struct MedianPruner {
  int n_startup_trials = 5;  ///< completed trials before any is pruned
  int n_warmup_steps = 0;    ///< first steps of a trial, never pruned
  int interval_steps = 1;    ///< steps between two checks
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

/// Whether the best report of `trial` so far is worse than the median of the complete trials at its
/// last reported step.
bool should_prune(const MedianPruner& pruner, std::span<const Trial> history, const Trial& trial,
                  Direction direction);

}  // namespace mase::samplers
