// SPDX-License-Identifier: Apache-2.0
// Learned steps of fixed-point formats (LSQ: Esser et al., ICLR 2020), kept to powers of two by
// learning their logarithm (Jain et al., MLSys 2020): the format on the graph stays integer(width,
// frac_width) and its frac_width follows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torch/run/executor.hpp"
#include "torch/train/parameters.hpp"

namespace mase::train {

using PortName = std::pair<ir::NodeId, std::string>;

/// The ports whose format has one frac_width that data may choose (not one for each channel), of
/// data and of trained parameters; running statistics are left out.
std::vector<PortName> learnable_ports(const ir::Graph& graph);

/// Binary points that are trained with the weights: each port has a step size, whose logarithm gets
/// a gradient.
class LearnedSteps {
 public:
  /// `parameters` was made with learnable_ports(graph): their steps start from the formats. The
  /// arguments must outlive the object.
  LearnedSteps(ir::Graph& graph, libtorch::Executor& executor, Parameters& parameters);

  /// Multiplies each step's gradient by 1 / sqrt(N Q): N elements of the port (of one row, for
  /// data) and Q the highest code, so that steps move as fast as weights (LSQ, section 2.2).
  void scale_gradients();
  /// Gives the graph and the executor formats with frac_width = -round(log2 step).
  void follow();

  std::vector<float> values() const;
  /// Takes over stored values; Error(Fault::file) when there are not as many as steps.
  void restore(const std::vector<float>& values);

 private:
  float& value(std::size_t i) const;

  ir::Graph& graph_;
  libtorch::Executor& executor_;
  Parameters& parameters_;
  std::vector<float> gradient_scales_;
};

}  // namespace mase::train
