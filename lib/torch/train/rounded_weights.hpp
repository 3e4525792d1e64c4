// SPDX-License-Identifier: Apache-2.0
// Training without master weights: after each step, weights are rounded to their formats (Gupta et
// al., ICML 2015), so that a format's rounding decides whether small steps add up.
#pragma once

#include <vector>

#include "ir/op_table.hpp"
#include "torch/run/executor.hpp"
#include "torch/train/parameters.hpp"

namespace mase::train {

/// The trained parameters that have formats; rounds them in place.
class RoundedWeights {
 public:
  /// The arguments must outlive the object. Error(Fault::config) if there is no such parameter, or
  /// one with different formats at two ports.
  RoundedWeights(const ir::Graph& graph, libtorch::Executor& executor, Parameters& parameters);

  /// Rounds the parameters to their formats, with the random numbers of this step.
  void round(std::int64_t step);

 private:
  struct Weight {
    const formats::Format* format;  ///< on the graph
    std::uint64_t place;
    at::Tensor values;
  };
  void add(const ir::Node& node, const ir::Port& port, Parameters& parameters);

  libtorch::Executor& executor_;
  std::vector<Weight> weights_;
};

}  // namespace mase::train
