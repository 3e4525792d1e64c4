// SPDX-License-Identifier: Apache-2.0
// Step counts and learning rates.
#include "torch/train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace mase::train {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

StepCounts count_steps(std::int64_t rows, const backend::TrainOptions& options, bool drop_single) {
  StepCounts counts;
  const std::int64_t ranks = options.ranks.size, batch = options.batch_size * ranks;
  counts.batches_per_epoch = divide_up(rows, batch);
  if (drop_single && batch < 2)
    config_error("batch_size = " + std::to_string(options.batch_size) +
                 ": batch norms need at least 2 rows in a training batch");
  if (drop_single && rows % batch == 1) --counts.batches_per_epoch;
  if (counts.batches_per_epoch < 1)
    config_error("the train part has " + std::to_string(rows) + " rows: too few for one batch");
  counts.steps_per_epoch = divide_up(counts.batches_per_epoch, options.accumulate_grad_batches);
  const bool by_steps = options.max_steps && *options.max_steps > 0;
  counts.steps = by_steps ? *options.max_steps : options.max_epochs * counts.steps_per_epoch;
  counts.epochs = divide_up(counts.steps, counts.steps_per_epoch);
  return counts;
}

double learning_rate(std::int64_t step, const StepCounts& counts,
                     const backend::TrainOptions& options) {
  const double peak = options.learning_rate;
  const std::int64_t warm = std::llround(options.warmup_share * static_cast<double>(counts.steps));
  if (step < warm) return peak * static_cast<double>(step + 1) / static_cast<double>(warm);
  if (options.schedule == "step") {
    const std::int64_t drops = step / counts.steps_per_epoch / options.step_size;
    return peak * std::pow(options.gamma, static_cast<double>(drops));
  }
  if (options.schedule == "cosine") {
    const double floor = std::min(options.eta_min, peak);
    const double done = static_cast<double>(step - warm) /
                        static_cast<double>(std::max<std::int64_t>(1, counts.steps - warm));
    return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  }
  return peak;
}

bool is_quantized(std::int64_t step, const backend::TrainOptions& options) {
  return step >= options.quantize_after_steps;
}

bool depends_on_length(const backend::TrainOptions& options) {
  return options.schedule == "cosine" || options.warmup_share > 0;
}

}  // namespace mase::train
