// SPDX-License-Identifier: Apache-2.0
// The gradients of a step, from its batches and their shards.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "torch/train/processes.hpp"
#include "torch/train/schedule.hpp"
#include "torch/train/shard_statistics.hpp"
#include "torch/train/shard_turns.hpp"
#include "torch/train/shard_worker.hpp"

namespace mase::train {

/// Runs the batches of a step forward and backward. The shards of a process are computed one after
/// the other, or in turns if batch norms need the rows of all of them.
class StepGradients {
 public:
  /// The first worker has the model of the training. The arguments must outlive the object.
  StepGradients(const ShardWorker& first, const data::Dataset& data, Processes& processes,
                const StepCounts& counts, const backend::TrainOptions& options, c10::Device device);

  /// Brings the rows into the order of an epoch.
  void shuffle(std::int64_t epoch);
  /// Leaves the gradients of the rows of all processes in the parameters, and returns their loss.
  /// Error(Fault::goal) if it is not finite.
  double compute(std::int64_t step);

 private:
  ShardWorker& first() { return workers_.front(); }
  const Shards& shards() { return first().batches.shards(); }
  bool in_turns() const { return workers_.size() > 1; }
  void run_one_by_one(std::int64_t step);
  void run_in_turns(std::int64_t step);
  void run_shard(std::int64_t step, std::int64_t shard, ShardWorker& worker,
                 const GatherNumbers& gather);
  double run_batch(std::int64_t step, ShardWorker& worker, const GatherNumbers& gather);
  void warn_of_draws() const;

  Processes& processes_;
  const StepCounts& counts_;
  const backend::TrainOptions& options_;
  ShardStatistics statistics_;
  bool draws_;            ///< the graph draws random numbers while training
  bool by_row_;           ///< ... and each of them belongs to a row
  GatherNumbers gather_;  ///< of the numbers of the own shards
  std::list<ShardReplica> replicas_;
  std::vector<ShardWorker> workers_;  ///< one, or one for each of the own shards
  std::optional<ShardTurns> turns_;
};

}  // namespace mase::train
