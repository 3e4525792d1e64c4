// SPDX-License-Identifier: Apache-2.0
// What one shard of a step is computed with.
#pragma once

#include <cstdint>
#include <memory>

#include "torch/train/gradient_sums.hpp"
#include "torch/train/objective.hpp"
#include "torch/train/shard_part.hpp"
#include "torch/train/trained_model.hpp"

namespace mase::train {

/// The parts that a shard uses while it is computed.
struct ShardWorker {
  TrainedModel& model;
  Objective& objective;
  Batches& batches;
  GradientMean mean{};  ///< over the batches of a step
  double loss = 0;      ///< the same for the loss
};

/// A model like another one, with batches of its own, for shards that are computed while others
/// wait with what they keep for their backward pass.
class ShardReplica {
 public:
  /// `options` and `data` must outlive the object.
  ShardReplica(const ir::Graph& graph, const data::Dataset& data,
               const backend::TrainOptions& options, std::int64_t steps, c10::Device device);

  /// Takes over tensors, formats and rounding of the original, before a step.
  void follow(TrainedModel& original, bool quantized);
  void shuffle(std::int64_t epoch) { batches_.shuffle(epoch); }
  ShardWorker worker() { return {model_, *objective_, batches_}; }

 private:
  ir::Graph graph_;
  TrainedModel model_;
  Batches batches_;
  std::unique_ptr<Objective> objective_;
};

}  // namespace mase::train
