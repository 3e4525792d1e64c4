// SPDX-License-Identifier: Apache-2.0
// Counts steps and seconds.
#include "torch/train/step_log.hpp"

#include <algorithm>

namespace mase::train {

void StepLog::add(double loss) {
  last_loss_ = loss;
  sum_ += loss;
  ++steps_;
}

backend::Progress StepLog::take(std::int64_t step, const StepCounts& counts,
                                const backend::TrainOptions& options,
                                const std::optional<data::Figures>& validation) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, steps_));
  backend::Progress progress{step,
                             counts.steps,
                             step / counts.steps_per_epoch,
                             counts.epochs,
                             steps_ > 0 ? sum_ / steps : last_loss_,
                             learning_rate(step - 1, counts, options),
                             seconds > 0 ? steps / seconds : 0.0,
                             validation};
  last_ = now;
  sum_ = 0;
  steps_ = 0;
  return progress;
}

}  // namespace mase::train
