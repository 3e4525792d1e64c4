// SPDX-License-Identifier: Apache-2.0
// Parameters: everything that an optimiser changes, in one flat buffer. The executor's tensors are
// views of it, or of its copy on another device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
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
    at::Tensor leaf;         ///< the same on the device of the table; requires a gradient
    at::Tensor gradient;     ///< for its gradient, on that device
  };

  /// The base-2 logarithm of the step of a port's fixed-point format, if it is learned.
  struct LearnedStep {
    ir::NodeId node = ir::no_node;
    std::string port;
    Entry entry;  ///< a scalar; the path is empty
  };

  /// Takes over every trainable tensor of `graph` in `table` (path → tensor, as in the executor).
  /// All lie on one device.
  /// `steps` are the ports that learn their step; their values are 0 at first.
  /// Error(Fault::config) if no tensor is trainable, Error(Fault::unsupported) if one is not
  /// float32.
  Parameters(const ir::Graph& graph, std::map<std::string, at::Tensor>& table,
             const std::vector<std::pair<ir::NodeId, std::string>>& steps = {});

  /// The flat buffers. Each tensor starts at a multiple of 64 bytes, so that kernels whose order of
  /// operations depends on alignment give the same bits in every run. The gaps stay zero.
  std::span<float> values();
  std::span<float> gradients();
  /// Brings values() to the leaves, after they have changed, and the entries' gradients to
  /// gradients(). On the CPU both are the same memory.
  void share_values();
  void collect_gradients();
  /// A line of numbers behind the gradients, which the processes of a training sum with them.
  std::span<float> companions();
  /// The gradients and their companions.
  at::Tensor gradients_and_companions() const { return gradients_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<LearnedStep>& steps() const { return steps_; }
  /// The number of values() before the steps, to which weight decay must not apply.
  std::size_t decayed() const { return decayed_; }
  /// The entry of this path, or nullptr.
  const Entry* find(const std::string& path) const;
  const LearnedStep* find_step(ir::NodeId node, const std::string& port) const;

 private:
  std::vector<Entry> entries_;
  std::vector<LearnedStep> steps_;
  std::size_t decayed_ = 0;
  at::Tensor values_, gradients_;
  at::Tensor device_values_, device_gradients_;  ///< undefined on the CPU
};

}  // namespace mase::train
