// SPDX-License-Identifier: Apache-2.0
// Puts shards together.
#include "torch/train/shard_scores.hpp"

#include <ATen/ops/cat.h>

#include "torch/run/tensors.hpp"

namespace mase::train {

void ShardScores::add(const std::vector<at::Tensor>& results, const std::vector<at::Tensor>& wanted,
                      std::int64_t rows) {
  const std::vector<at::Tensor> outputs = losses_.select(results, wanted);
  const auto kept = [&](const at::Tensor& tensor) {
    const at::Tensor part = tensor.detach().narrow(0, 0, rows).cpu();
    return processes_.own_shards() == 1 ? part : part.clone();  // one is scored at once
  };
  outputs_.resize(outputs.size());
  targets_.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs_[i].push_back(kept(outputs[i]));
    targets_[i].push_back(kept(wanted[i]));
  }
}

void ShardScores::finish_batch(std::int64_t rows) {
  const std::vector<Array> outputs = rows_of_all(outputs_, rows, "output");
  const std::vector<Array> targets = rows_of_all(targets_, rows, "target");
  if (processes_.is_first()) scorers_.add(rows, outputs, targets);
}

std::vector<Array> ShardScores::rows_of_all(std::vector<Parts>& all, std::int64_t rows,
                                            const char* name) {
  std::vector<Array> arrays;
  for (Parts& parts : all) {
    const at::Tensor own = parts.size() == 1 ? parts.front() : at::cat(parts);
    arrays.push_back(libtorch::to_array(processes_.rows_of_all(own, rows), name));
    parts.clear();
  }
  return arrays;
}

}  // namespace mase::train
