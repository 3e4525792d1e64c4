// SPDX-License-Identifier: Apache-2.0
// Parameters: everything that an optimiser changes, in one flat buffer on the device of the model.
// The executor's tensors are views of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::train {

/// All parameters of a graph in one flat buffer, and their gradients in another.
class Parameters {
 public:
  /// A parameter, and its place in the buffers.
  struct Entry {
    std::string path;
    std::size_t offset = 0;  ///< offset of its first element in the flat buffers
    at::Tensor values;       ///< a view of values()
    at::Tensor leaf;         ///< the same memory; requires a gradient
    at::Tensor gradient;     ///< for its gradient, a view of gradients()
  };

  /// The base-2 logarithm of the step of a port's fixed-point format, if it is learned.
  struct LearnedStep {
    ir::NodeId node = ir::no_node;
    std::string port;
    Entry entry;  ///< a scalar; the path is empty
  };

  /// Takes over every trainable tensor of `graph` in `table` (path → tensor, as in the executor).
  /// All lie on one device, as do the buffers.
  /// `steps` are the ports that learn their step; their values are 0 at first.
  /// Error(Fault::config) if no tensor is trainable, Error(Fault::unsupported) if one is not
  /// float32.
  Parameters(const ir::Graph& graph, std::map<std::string, at::Tensor>& table,
             const std::vector<std::pair<ir::NodeId, std::string>>& steps = {});

  /// The flat buffers. Each tensor starts at a multiple of 64 bytes, so that kernels whose order of
  /// operations depends on alignment give the same bits in every run. The gaps stay zero.
  const at::Tensor& values() const { return values_; }
  const at::Tensor& gradients() const { return gradients_; }
  /// A line of numbers behind the gradients, which the processes of a training sum with them.
  const at::Tensor& companions() const { return companions_; }
  /// The gradients and their companions.
  const at::Tensor& gradients_and_companions() const { return all_gradients_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<LearnedStep>& steps() const { return steps_; }
  /// The values of all steps and their gradients, one number each: views of the flat buffers.
  at::Tensor step_values() const { return numbers_of_steps(values_); }
  at::Tensor step_gradients() const { return numbers_of_steps(gradients_); }
  /// The number of values() before the steps, to which weight decay must not apply.
  std::size_t decayed() const { return decayed_; }
  /// The entry of this path, or nullptr.
  const Entry* find(const std::string& path) const;
  const LearnedStep* find_step(ir::NodeId node, const std::string& port) const;

 private:
  at::Tensor numbers_of_steps(const at::Tensor& flat) const;

  std::vector<Entry> entries_;
  std::vector<LearnedStep> steps_;
  std::size_t decayed_ = 0;
  at::Tensor values_, gradients_, companions_;
  at::Tensor all_gradients_;  ///< with the companions
};

}  // namespace mase::train
