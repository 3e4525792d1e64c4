// SPDX-License-Identifier: Apache-2.0
// The gradients of a step, from its batches and their shards.
#pragma once

#include <cstdint>
#include <optional>

#include "torch/train/gradient_sums.hpp"
#include "torch/train/objective.hpp"
#include "torch/train/process_parts.hpp"
#include "torch/train/processes.hpp"
#include "torch/train/schedule.hpp"
#include "torch/train/shard_statistics.hpp"
#include "torch/train/trained_model.hpp"

namespace mase::train {

/// Runs the batches of a step forward and backward.
class StepGradients {
 public:
  /// The arguments must outlive the object.
  StepGradients(TrainedModel& model, Objective& objective, Batches& batches, Processes& processes,
                const StepCounts& counts, const backend::TrainOptions& options);

  /// Leaves the gradients of the rows of all processes in the parameters, and returns their loss.
  /// Error(Fault::goal) if it is not finite.
  double compute(std::int64_t step);

 private:
  void run_shard(std::int64_t step, std::int64_t shard);
  double run_batch(std::int64_t step);
  libtorch::BatchParts* parts();

  TrainedModel& model_;
  Objective& objective_;
  Batches& batches_;
  Processes& processes_;
  const StepCounts& counts_;
  const backend::TrainOptions& options_;
  ShardStatistics statistics_;
  std::optional<ProcessParts> parts_;  ///< of a batch whose processes share norms
  GradientMean mean_;                  ///< over the batches of a step
  bool draws_;                         ///< the graph draws random numbers while training
  bool by_row_;                        ///< ... and each of them belongs to a row
};

}  // namespace mase::train
