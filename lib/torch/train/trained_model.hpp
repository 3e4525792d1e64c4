// SPDX-License-Identifier: Apache-2.0
// The model in training: a graph, its parameters, and what runs them forward and backward.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backend/training.hpp"
#include "ir/graph.hpp"
#include "torch/run/executor.hpp"
#include "torch/train/learned_steps.hpp"
#include "torch/train/network.hpp"
#include "torch/train/parameters.hpp"
#include "torch/train/rounded_weights.hpp"
#include "torch/train/weight_average.hpp"

namespace mase::train {

/// Everything that a step of training changes, but for the optimiser's moments.
class TrainedModel {
 public:
  /// The arguments must outlive the object. `steps` is the number of steps of the run. The
  /// model, its parameters and their average lie on `device`.
  /// Error(Fault::config) if the options of quantized training do not fit the graph.
  TrainedModel(ir::Graph& graph, const backend::TrainOptions& options, std::int64_t steps,
               c10::Device device);

  ir::Graph& graph() { return graph_; }
  libtorch::Executor& executor() { return executor_; }
  Parameters& parameters() { return parameters_; }
  LearnedSteps& learned_steps() { return learned_steps_; }
  WeightAverage& average() { return average_; }
  TrainableNetwork& network() { return *network_; }

  /// Makes the parameters ready for the batches of a step (from 0).
  void begin_step(std::int64_t step);
  /// Lets everything that depends on the parameters follow their change by the optimiser.
  void finish_step(std::int64_t step);
  /// Exchanges the parameters with their average; does nothing without ema_decay.
  void swap_average();

  /// Writes the tensors to the graph.
  void store() { executor_.store_tensors(graph_); }
  /// Folds the batch norms of the stored graph as in training, if they were folded there.
  void store_folded(ir::Graph& graph) const;
  /// The graph for use, with batch norms folded as in training, and with the average weights.
  ir::Graph deployed_graph();

 private:
  ir::Graph& graph_;
  const backend::TrainOptions& options_;
  libtorch::Executor executor_;
  int folded_;  ///< number of folded batch norms
  Parameters parameters_;
  LearnedSteps learned_steps_;
  std::unique_ptr<TrainableNetwork> network_;
  std::optional<RoundedWeights> rounded_weights_;  ///< for training without master weights
  WeightAverage average_;
};

}  // namespace mase::train
