// SPDX-License-Identifier: Apache-2.0
// Learned steps of fixed-point formats (LSQ: Esser et al., ICLR 2020). Learning their logarithm
// keeps them powers of two (Jain et al., MLSys 2020): the format on the graph stays integer(width,
// frac_width), and its frac_width follows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torch/run/executor.hpp"
#include "torch/train/parameters.hpp"

namespace mase::train {

using PortName = std::pair<ir::NodeId, std::string>;

/// The ports of data and of trained parameters whose format has a single frac_width that can be
/// calibrated (not one per channel). Running statistics are left out.
std::vector<PortName> learnable_ports(const ir::Graph& graph);

/// Binary points that are trained with the weights. Each port has a step size, whose logarithm has
/// a gradient.
class LearnedSteps {
 public:
  /// `parameters` must have been made with learnable_ports(graph). The steps start from the
  /// formats. The arguments must outlive the object.
  LearnedSteps(ir::Graph& graph, libtorch::Executor& executor, Parameters& parameters);

  /// Multiplies each step's gradient by 1 / sqrt(N Q), for N elements of the port (per row, for
  /// data) and the highest code Q, so that steps move as fast as weights (LSQ, section 2.2).
  void scale_gradients();
  /// Updates the formats of graph and executor to frac_width = -round(log2 step). The logarithms
  /// come to the CPU for it.
  void follow();

  std::vector<float> values() const;
  /// Restores stored values. Error(Fault::file) if their number differs from that of the steps.
  void restore(const std::vector<float>& values);

 private:
  void set_values(const std::vector<float>& values);

  ir::Graph& graph_;
  libtorch::Executor& executor_;
  Parameters& parameters_;
  at::Tensor gradient_scales_;  ///< undefined without steps
};

}  // namespace mase::train
