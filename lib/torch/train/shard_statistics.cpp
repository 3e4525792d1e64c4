// SPDX-License-Identifier: Apache-2.0
// Finds the statistics, copies them and puts them back.
#include "torch/train/shard_statistics.hpp"

#include <string>

namespace mase::train {

ShardStatistics::ShardStatistics(const ir::Graph& graph, libtorch::Executor& executor) {
  const auto add = [&](const std::string* path) {
    const auto& tensors = executor.tensors();  // without those of folded batch norms
    if (path && tensors.contains(*path)) tensors_.push_back(tensors.at(*path).detach());
  };
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    for (const char* argument : {"running_mean", "running_var"})
      add(graph.tensor_of(node, argument));
    add(graph.tensor_named(node.target + ".num_batches_tracked"));
  }
}

void ShardStatistics::keep_those_of_first(std::int64_t shard, const Shards& shards) {
  if (shards.own() == 1) return;
  if (shard == shards.first) {
    kept_.clear();
    for (const at::Tensor& tensor : tensors_) kept_.push_back(tensor.clone());
  } else if (shard + 1 == shards.end) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].copy_(kept_[i]);
  }
}

}  // namespace mase::train
