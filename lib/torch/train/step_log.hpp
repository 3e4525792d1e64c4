// SPDX-License-Identifier: Apache-2.0
// What training reports of the steps since the last report.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "backend/training.hpp"
#include "torch/train/schedule.hpp"

namespace mase::train {

/// The mean loss and the speed of the steps since the last report.
class StepLog {
 public:
  void begin() { last_ = Clock::now(); }
  void add(double loss);
  double last_loss() const { return last_loss_; }
  /// The progress after `step` steps; begins again.
  backend::Progress take(std::int64_t step, const StepCounts& counts,
                         const backend::TrainOptions& options,
                         const std::optional<data::Figures>& validation);

 private:
  using Clock = std::chrono::steady_clock;

  double last_loss_ = 0, sum_ = 0;
  std::int64_t steps_ = 0;
  Clock::time_point last_;
};

}  // namespace mase::train
