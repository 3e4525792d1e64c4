// SPDX-License-Identifier: Apache-2.0
// The messages about losses.
#include "torch/train/loss_checks.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mase::train {

void refuse_loss(double loss, std::int64_t step, const StepCounts& counts) {
  throw Error(Fault::goal,
              "the training loss became " + std::string(std::isnan(loss) ? "NaN" : "infinite") +
                  " in epoch " + std::to_string(step / counts.steps_per_epoch + 1) + ", step " +
                  std::to_string(step + 1) +
                  "; checkpoints saved before are intact. A smaller learning_rate or a warm-up"
                  " usually helps");
}

void GrowthWarning::see(double loss, std::int64_t step) {
  constexpr double often = 100;
  if (!first_) first_ = loss;
  if (!(loss > often * std::max(*first_, 1e-6)) || std::exchange(warned_, true)) return;
  log::warning(
      "the training loss grew from " + fixed_text(*first_, 4) + " to " + fixed_text(loss, 4) +
      " in step " + std::to_string(step + 1) +
      "; a smaller learning_rate, a warm-up (warmup_share) or gradient_clip usually helps");
}

}  // namespace mase::train
