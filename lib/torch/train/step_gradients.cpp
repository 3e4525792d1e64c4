// SPDX-License-Identifier: Apache-2.0
// The loops over the shards and batches of a step.
#include "torch/train/step_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "torch/train/draws.hpp"
#include "torch/train/loss_checks.hpp"

namespace mase::train {

StepGradients::StepGradients(TrainedModel& model, Objective& objective, Batches& batches,
                             Processes& processes, const StepCounts& counts,
                             const backend::TrainOptions& options)
    : model_(model),
      objective_(objective),
      batches_(batches),
      processes_(processes),
      counts_(counts),
      options_(options),
      statistics_(model.graph(), model.executor()),
      draws_(draws_numbers(model.graph())),
      by_row_(!options.shards && draws_by_row(model.graph())) {}

double StepGradients::compute(std::int64_t step) {
  const Shards& shards = batches_.shards();
  for (std::int64_t shard = shards.first; shard < shards.end; ++shard) run_shard(step, shard);
  const double loss = processes_.sum_shards(model_.parameters());
  if (!std::isfinite(loss)) refuse_loss(loss, step, counts_);
  // All processes round weights alike.
  model_.executor().rounding().batch -= shards.end - 1;
  return loss;
}

/// The gradients of a shard are the mean over the batches of this step.
void StepGradients::run_shard(std::int64_t step, std::int64_t shard) {
  if (draws_) {
    seed_step(options_.seed, step, by_row_ ? 0 : static_cast<int>(shard));
    seed_device(model_.executor().device());
  }
  const std::int64_t group = options_.accumulate_grad_batches;
  const std::int64_t first = step % counts_.steps_per_epoch * group;
  const std::int64_t end = std::min(first + group, counts_.batches_per_epoch);
  double loss = 0;
  for (std::int64_t batch = first; batch < end; ++batch) {
    model_.executor().rounding().batch = (batch - first) * batches_.shards().all + shard;
    batches_.load({batch, shard}, batch + 1 < end ? Batches::Place{batch + 1, shard}
                                                  : batches_.after(shard, first, end));
    loss += run_batch(step);
    if (group > 1) mean_.add(model_.parameters().gradients(), batch - first, end - first);
  }
  processes_.add_shard(model_.parameters(), loss / static_cast<double>(end - first));
  statistics_.keep_those_of_first(shard, batches_.shards());
}

double StepGradients::run_batch(std::int64_t step) {
  const libtorch::UseBatchParts use(parts());
  const auto checked = [&](double loss) {
    if (batches_.shards().all == 1 && !std::isfinite(loss)) refuse_loss(loss, step, counts_);
    return loss;
  };
  const PendingLoss loss = objective_.loss(model_.network().forward(batches_.inputs()));
  if (loss.is_here()) checked(loss.value());
  model_.network().backward(objective_.losses().gradients());
  return checked(loss.value());  // a device had work meanwhile
}

/// The parts of a batch, one of each process. Shards that were asked for are batches of their own.
libtorch::BatchParts* StepGradients::parts() {
  if (!processes_.are_several() || options_.shards) return nullptr;
  if (!parts_) parts_.emplace(*processes_.group(), batches_);
  return &*parts_;
}

}  // namespace mase::train
