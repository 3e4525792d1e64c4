// SPDX-License-Identifier: Apache-2.0
// What the processes of a training do together: they sum gradients, gather rows and compare notes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

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
  explicit Processes(const backend::Ranks& ranks) : ranks_(ranks) {}

  /// Connects the processes and compares what they train. `data` and `resume` are hashes.
  void meet(const ir::Graph& graph, const std::string& data, const std::string& resume,
            const backend::TrainOptions& options);

  bool are_several() const { return group_ != nullptr; }
  /// Whether this process writes and prints.
  bool is_first() const { return ranks_.rank == 0; }
  /// Whether one of the processes was asked to stop before the last sum.
  bool are_asked_to_stop() const;

  /// Replaces the gradients by their sums, and returns the sum of the losses.
  double sum_gradients(Parameters& parameters, double loss);
  /// Takes all tensors but the parameters from rank 0. Statistics of batch norms are those of each
  /// process's own rows. Error(Fault::internal) if the parameters are not those of rank 0.
  void take_statistics_of_first(std::map<std::string, at::Tensor>& tensors, Parameters& parameters,
                                std::int64_t step);
  /// The rows of all processes on rank 0, in their order in the data set's part; elsewhere `own`.
  at::Tensor rows_of_all(const at::Tensor& own, const Batches::Share& share);
  void take_figures_of_first(data::Figures& figures);
  void wait_for_all();

 private:
  backend::Ranks ranks_;
  std::unique_ptr<ProcessGroup> group_;  ///< if there are several
  bool stop_together_ = false;           ///< a process was asked to stop
};

}  // namespace mase::train
