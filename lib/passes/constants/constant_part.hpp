// SPDX-License-Identifier: Apache-2.0
// Runs the part of a graph that does not depend on the inputs' values.
#pragma once

#include <map>
#include <vector>

#include "ir/evaluator.hpp"
#include "passes/constants/constant_nodes.hpp"

namespace mase::passes {

/// Nodes and everything they are computed from, as a graph without inputs: input sizes are those of
/// the trace, with `samples` as the batch. Graph and constants must outlive the object unchanged.
class ConstantPart {
 public:
  /// Samples in the batch: several, so that their rows can be compared.
  static constexpr std::int64_t samples = 2;

  ConstantPart(const ir::Graph& graph, const ConstantNodes& constants,
               const ir::MakeEvaluator& evaluator)
      : graph_(graph), constants_(constants), evaluator_(evaluator) {}

  /// A tensor of the graph with its dimensions in another order; empty: in their own order.
  struct Wanted {
    ir::NodeId node = ir::no_node;
    std::vector<std::size_t> dims;
  };
  /// Runs the part; Error(Fault::config) when there is no LibTorch.
  std::vector<Array> values(const std::vector<Wanted>& wanted) const;
  /// The strides of tensors: the distance in memory, in elements, to the next along each dimension.
  std::map<ir::NodeId, Shape> strides(const std::vector<ir::NodeId>& tensors) const;

 private:
  ir::Value in_run(ir::NodeId id) const;
  void add_template(ir::Graph& part, ir::NodeId reader) const;
  std::vector<Array> run(ir::Graph part, ir::Value::List results) const;

  const ir::Graph& graph_;
  const ConstantNodes& constants_;
  const ir::MakeEvaluator& evaluator_;
};

}  // namespace mase::passes
