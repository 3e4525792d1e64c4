// SPDX-License-Identifier: Apache-2.0
// Makes replicas and keeps them in step.
#include "torch/train/shard_worker.hpp"

namespace mase::train {

ShardReplica::ShardReplica(const ir::Graph& graph, const data::Dataset& data,
                           const backend::TrainOptions& options, std::int64_t steps,
                           c10::Device device)
    : graph_(graph),
      model_(graph_, options, steps, device),
      batches_(data, options.batch_size, static_cast<std::uint64_t>(options.seed), options,
               options.ranks, options.shards) {
  batches_.load(data.train, 0, 1);
  objective_ = std::make_unique<Objective>(data, options, batches_,
                                           model_.executor().run(batches_.inputs()), device);
}

void ShardReplica::follow(TrainedModel& original, bool quantized) {
  Parameters& parameters = model_.parameters();
  parameters.values().detach().copy_(original.parameters().values());
  for (auto& [path, tensor] : model_.executor().tensors())
    if (!parameters.find(path)) tensor.detach().copy_(original.executor().tensors().at(path));
  model_.learned_steps().follow();
  model_.executor().rounding() = original.executor().rounding();
  model_.network().begin_step(quantized);
}

}  // namespace mase::train
