// SPDX-License-Identifier: Apache-2.0
// Scores the outputs of shards, which several processes compute.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "data/scorer.hpp"
#include "torch/train/processes.hpp"
#include "torch/train/target_losses.hpp"

namespace mase::train {

/// Gathers the rows of all shards of a batch on rank 0, and scores them there.
class ShardScores {
 public:
  ShardScores(const TargetLosses& losses, Processes& processes)
      : losses_(losses), processes_(processes), scorers_(losses.targets()) {}

  /// Keeps the first `rows` rows of the results of the next own shard. Where there are
  /// several, tensors of `wanted` may be overwritten before finish_batch.
  void add(const std::vector<at::Tensor>& results, const std::vector<at::Tensor>& wanted,
           std::int64_t rows);
  /// Scores a batch of `rows` rows, whose own shards were added.
  void finish_batch(std::int64_t rows);
  /// On rank 0 the figures of all batches.
  data::Figures figures() const { return scorers_.figures(); }

 private:
  /// The parts of a tensor that the own shards have.
  using Parts = std::vector<at::Tensor>;
  std::vector<Array> rows_of_all(std::vector<Parts>& all, std::int64_t rows, const char* name);

  const TargetLosses& losses_;
  Processes& processes_;
  data::Scorers scorers_;
  std::vector<Parts> outputs_, targets_;  ///< of each target
};

}  // namespace mase::train
