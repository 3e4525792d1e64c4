// SPDX-License-Identifier: Apache-2.0
// The running statistics of batch norms when a process has several shards.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ir/graph.hpp"
#include "torch/run/executor.hpp"
#include "torch/train/shards.hpp"

namespace mase::train {

/// Keeps the statistics that the first shard leaves, since the others are not there in a process
/// that has the first shard alone.
class ShardStatistics {
 public:
  /// The tensors of the executor, which runs the graph, must stay where they are.
  ShardStatistics(const ir::Graph& graph, libtorch::Executor& executor);

  /// To be called after each shard of this process has run.
  void keep_those_of_first(std::int64_t shard, const Shards& shards);

 private:
  std::vector<at::Tensor> tensors_, kept_;
};

}  // namespace mase::train
