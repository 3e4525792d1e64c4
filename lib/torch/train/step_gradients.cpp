// SPDX-License-Identifier: Apache-2.0
// The loops over the shards and batches of a step.
#include "torch/train/step_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/log.hpp"
#include "base/text.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/draws.hpp"
#include "torch/train/loss_checks.hpp"

namespace mase::train {

StepGradients::StepGradients(const ShardWorker& first_worker, const data::Dataset& data,
                             Processes& processes, const StepCounts& counts,
                             const backend::TrainOptions& options, c10::Device device)
    : processes_(processes),
      counts_(counts),
      options_(options),
      statistics_(first_worker.model.graph(), first_worker.model.executor()),
      draws_(draws_numbers(first_worker.model.graph())),
      by_row_(draws_without_rows(first_worker.model.graph()).empty()),
      gather_([this](std::span<const double> own) { return processes_.gather(own); }),
      workers_{first_worker} {
  if (shards().all > 1 && !by_row_) warn_of_draws();
  const ir::Graph& graph = first().model.graph();
  if (!has_batch_norm(graph)) return;
  for (std::int64_t shard = 1; shard < shards().own(); ++shard)
    workers_.push_back(replicas_.emplace_back(graph, data, options, counts.steps, device).worker());
  if (in_turns()) turns_.emplace(workers_.size(), device, gather_);
}

void StepGradients::warn_of_draws() const {
  if (!processes_.is_first()) return;
  std::vector<std::string> names;
  for (const ir::Node* node : draws_without_rows(workers_.front().model.graph()))
    names.push_back(node->name + " (" + node->op + ")");
  log::warning("the random numbers of " + join(names, ", ") +
               " do not belong to rows, so that the weights depend on the number of shards");
}

void StepGradients::shuffle(std::int64_t epoch) {
  first().batches.shuffle(epoch);
  for (ShardReplica& replica : replicas_) replica.shuffle(epoch);
}

double StepGradients::compute(std::int64_t step) {
  in_turns() ? run_in_turns(step) : run_one_by_one(step);
  first().model.executor().rounding().part = 0;  // all processes round weights alike
  const double loss = processes_.sum_shards(first().model.parameters());
  if (!std::isfinite(loss)) refuse_loss(loss, step, counts_);
  return loss;
}

void StepGradients::run_one_by_one(std::int64_t step) {
  for (std::int64_t shard = shards().first; shard < shards().end; ++shard) {
    run_shard(step, shard, first(), gather_);
    processes_.add_shard(first().model.parameters(), first().loss);
    statistics_.keep_those_of_first(shard, shards());
  }
}

void StepGradients::run_in_turns(std::int64_t step) {
  for (ShardReplica& replica : replicas_)
    replica.follow(first().model, is_quantized(step, options_));
  turns_->run([&](std::size_t i) {
    run_shard(step, shards().first + static_cast<std::int64_t>(i), workers_[i],
              [&, i](std::span<const double> own) { return turns_->gather(i, own); });
  });
  for (ShardWorker& worker : workers_) processes_.add_shard(worker.model.parameters(), worker.loss);
}

/// The gradients of a shard are the mean over the batches of this step.
void StepGradients::run_shard(std::int64_t step, std::int64_t shard, ShardWorker& worker,
                              const GatherNumbers& gather) {
  libtorch::Executor& executor = worker.model.executor();
  if (draws_) {
    seed_step(options_.seed, step, by_row_ ? 0 : static_cast<int>(shard));
    seed_device(executor.device());
  }
  const std::int64_t group = options_.accumulate_grad_batches;
  const std::int64_t first = step % counts_.steps_per_epoch * group;
  const std::int64_t end = std::min(first + group, counts_.batches_per_epoch);
  double loss = 0;
  executor.rounding().part = shard;
  executor.rounding().parts = shards().all;
  for (std::int64_t batch = first; batch < end; ++batch) {
    executor.rounding().batch = batch - first;
    const bool goes_on = batch + 1 < end || in_turns();
    worker.batches.load({batch, shard}, goes_on ? Batches::Place{batch + 1, shard}
                                                : worker.batches.after(shard, first, end));
    loss += run_batch(step, worker, gather);
    if (group > 1)
      worker.mean.add(worker.model.parameters().gradients(), batch - first, end - first);
  }
  worker.loss = loss / static_cast<double>(end - first);
}

/// A batch with several shards is divided into parts.
double StepGradients::run_batch(std::int64_t step, ShardWorker& worker,
                                const GatherNumbers& gather) {
  ShardPart part(worker.batches, gather);
  const bool is_whole = worker.batches.shards().all == 1;
  const libtorch::UseBatchParts use(is_whole ? nullptr : &part);
  const auto checked = [&](double loss) {
    if (is_whole && !std::isfinite(loss)) refuse_loss(loss, step, counts_);
    return loss;
  };
  const PendingLoss loss =
      worker.objective.loss(worker.model.network().forward(worker.batches.inputs()));
  if (loss.is_here()) checked(loss.value());
  worker.model.network().backward(worker.objective.losses().gradients());
  return checked(loss.value());  // a device had work meanwhile
}

}  // namespace mase::train
