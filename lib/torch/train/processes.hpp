// SPDX-License-Identifier: Apache-2.0
// What the processes of a training do together: they sum gradients, gather rows and compare notes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/training.hpp"
#include "data/scorer.hpp"
#include "ir/graph.hpp"
#include "torch/train/batches.hpp"
#include "torch/train/parameters.hpp"
#include "torch/train/process_group.hpp"

namespace mase::train {

/// The processes that train together. A process that trains alone does nothing here. All processes
/// call the same functions in the same order. Error(Fault::file) where one of them has ended.
class Processes {
 public:
  Processes(const backend::Ranks& ranks, const Shards& shards) : ranks_(ranks), shards_(shards) {}

  /// Connects the processes and compares what they train. `data` and `resume` are hashes.
  void meet(const ir::Graph& graph, const std::string& data, const std::string& resume,
            const backend::TrainOptions& options);

  bool are_several() const { return group_ != nullptr; }
  /// The connections; null if there is one process.
  ProcessGroup* group() { return group_.get(); }
  std::int64_t own_shards() const { return shards_.own(); }
  /// Whether this process writes and prints.
  bool is_first() const { return ranks_.rank == 0; }
  /// Whether one of the processes was asked to stop before the last sum.
  bool are_asked_to_stop() const;

  /// Takes the gradients of the next one of the own shards, and its share of the loss.
  void add_shard(Parameters& parameters, double loss);
  /// Replaces the gradients by their sums over all shards, and returns the sum of the losses.
  double sum_shards(Parameters& parameters);
  /// The numbers of all shards in their order, of which `own` has those of the own shards.
  std::vector<double> gather(std::span<const double> own);
  /// Takes all tensors but the parameters from rank 0. Statistics of batch norms are those of each
  /// process's own rows. Error(Fault::internal) if the parameters are not those of rank 0.
  void take_statistics_of_first(std::map<std::string, at::Tensor>& tensors, Parameters& parameters,
                                std::int64_t step);
  /// `own` are the rows of the own shards of a batch of `rows` rows. Returns those of all shards in
  /// their order on rank 0, and `own` elsewhere.
  at::Tensor rows_of_all(const at::Tensor& own, std::int64_t rows);
  void take_figures_of_first(data::Figures& figures);
  void wait_for_all();

 private:
  /// Whether there is nothing to sum.
  bool are_alone() const { return !group_ && shards_.all == 1; }

  backend::Ranks ranks_;
  std::unique_ptr<ProcessGroup> group_;  ///< if there are several
  Shards shards_;
  at::Tensor gradients_;  ///< of the own shards, or their sum if there is one process
  std::int64_t added_ = 0;
  double loss_ = 0;             ///< of the last added shard
  bool stop_together_ = false;  ///< a process was asked to stop
};

}  // namespace mase::train
