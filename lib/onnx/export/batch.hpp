// SPDX-License-Identifier: Apache-2.0
// Which sizes of a graph follow the batch of its inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// Infers the graph for its own batch and for another one. Dimension 0 of the inputs is the batch
/// if the graph can take both.
class Batch {
 public:
  explicit Batch(const ir::Graph& graph);

  /// Why the batch is fixed: the node and the reason; "" where it varies.
  const std::string& fixed_by() const { return fixed_by_; }
  /// The size of a dimension of a tensor; nullopt where it follows the batch.
  std::optional<std::int64_t> fixed_size(ir::NodeId id, std::size_t dim) const;
  /// The dimensions of a tensor: sizes, "batch", and neither for what is computed from the batch.
  std::vector<Dimension> dimensions(ir::NodeId id) const;

 private:
  void infer(ir::Graph other);

  const ir::Graph& graph_;
  std::int64_t size_ = 0;
  std::string fixed_by_;
  std::map<ir::NodeId, Shape> others_;  ///< shapes with the other batch
};

}  // namespace mase::onnx
