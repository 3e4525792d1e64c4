// SPDX-License-Identifier: Apache-2.0
// Runs the rules of shape inference with another batch.
#include "onnx/export/batch.hpp"

#include "base/error.hpp"
#include "ir/inference.hpp"

namespace mase::onnx {
namespace {

constexpr std::int64_t other_batch_factor = 2;

}  // namespace

Batch::Batch(const ir::Graph& graph) : graph_(graph) {
  ir::Graph other = graph;
  for (const ir::NodeId id : graph.placeholders()) {
    Shape& shape = other.node(id).info.shape;
    if (shape.empty()) continue;
    if (size_ == 0) size_ = shape[0];
    if (shape[0] == size_) shape[0] *= other_batch_factor;
  }
  if (size_ == 0)
    fixed_by_ = "no input has a dimension";
  else
    infer(std::move(other));
}

void Batch::infer(ir::Graph other) {
  try {
    if (const ir::NodeId unknown = ir::infer_all(other); unknown != ir::no_node) {
      fixed_by_ = graph_.node(unknown).name + ": its shape for other batches is not known";
      return;
    }
  } catch (const Error& error) {
    fixed_by_ = error.what();
    return;
  }
  for (const ir::NodeId id : other.order()) others_[id] = other.node(id).info.shape;
}

std::optional<std::int64_t> Batch::fixed_size(ir::NodeId id, std::size_t dim) const {
  const std::int64_t size = graph_.node(id).info.shape.at(dim);
  const auto other = others_.find(id);
  const bool varies =
      other != others_.end() && dim < other->second.size() && other->second[dim] != size;
  return varies ? std::nullopt : std::optional(size);
}

std::vector<Dimension> Batch::dimensions(ir::NodeId id) const {
  std::vector<Dimension> dimensions;
  const Shape& shape = graph_.node(id).info.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    Dimension dimension{fixed_size(id, i), ""};
    if (!dimension.size && shape[i] == size_) dimension.symbol = "batch";
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

}  // namespace mase::onnx
