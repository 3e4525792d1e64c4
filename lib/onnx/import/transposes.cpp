// SPDX-License-Identifier: Apache-2.0
// Composes transposes, and finds the order of columns behind one.
#include "onnx/import/transposes.hpp"

#include <numeric>
#include <utility>

#include "ir/dimension_map.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// A node that reorders dimensions: what it reads, and the order.
struct Transpose {
  ir::NodeId of;
  std::vector<std::int64_t> perm;
};

std::optional<Transpose> transpose_at(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto perm = ir::permutation_of(graph, node);
  const ir::Value* self = node.find("self");
  if (!perm || !self || !self->is_node() || !node.formats.empty()) return std::nullopt;
  return Transpose{self->node(), {perm->begin(), perm->end()}};
}

/// Where exactly two dimensions change places.
std::optional<std::pair<std::int64_t, std::int64_t>> swap_of(
    const std::vector<std::int64_t>& perm) {
  std::vector<std::int64_t> moved;
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) moved.push_back(static_cast<std::int64_t>(i));
  if (moved.size() != 2) return std::nullopt;
  return std::pair(moved[0], moved[1]);
}

bool is_identity(const std::vector<std::int64_t>& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

/// For each element of a tensor of these sizes once `perm` has moved its dimensions, in row-major
/// order: its place in the tensor.
std::vector<std::int64_t> places_of(const Shape& sizes, const std::vector<std::int64_t>& perm) {
  std::vector<std::int64_t> steps(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) steps[i - 1] = steps[i] * sizes[i];
  std::vector<std::int64_t> places(static_cast<std::size_t>(numel(sizes)));
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t k = perm.size(); k-- > 0;) {
      const auto dim = static_cast<std::size_t>(perm[k]);
      places[i] += rest % sizes[dim] * steps[dim];
      rest /= sizes[dim];
    }
  }
  return places;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& places) {
  std::vector<std::int64_t> result(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    result[static_cast<std::size_t>(places[i])] = static_cast<std::int64_t>(i);
  return result;
}

/// The sizes behind the first dimension; nullopt where symbols of the file decide on one.
std::optional<Shape> fixed_row(Call& call, ir::NodeId tensor) {
  Shape sizes;
  for (std::size_t dim = 1; dim < call.info(tensor).shape.size(); ++dim) {
    const auto size = call.importer().worlds().fixed_size(tensor, dim);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

}  // namespace

ir::NodeId transposed_tensor(Call& call, ir::NodeId tensor, std::vector<std::int64_t> perm) {
  while (const auto before = transpose_at(call.importer().graph(), tensor)) {
    tensor = before->of;
    for (std::int64_t& dim : perm) dim = before->perm[static_cast<std::size_t>(dim)];
  }
  if (is_identity(perm)) return tensor;
  if (const auto swap = swap_of(perm))
    return call.emit("aten::transpose.int",
                     {{"self", ref(tensor)}, {"dim0", swap->first}, {"dim1", swap->second}});
  return permuted(call, tensor, perm);
}

std::optional<FlattenedTranspose> flattened_transpose(Call& call, ir::NodeId matrix) {
  const ir::Graph& graph = call.importer().graph();
  const ir::Node& node = graph.node(matrix);
  const bool flat =
      ir::base_op(node.op) == "aten::reshape" || node.op == "aten::flatten.using_ints";
  const ir::Value* self = node.find("self");
  if (!flat || !self || node.info.shape.size() != 2) return std::nullopt;
  const auto before = transpose_at(graph, self->node());
  if (!before || before->perm.empty() || before->perm[0] != 0) return std::nullopt;
  const auto sizes = fixed_row(call, before->of);
  const auto columns = call.importer().worlds().fixed_size(matrix, 1);
  if (!sizes || columns != numel(*sizes)) return std::nullopt;
  std::vector<std::int64_t> perm;
  for (std::size_t i = 1; i < before->perm.size(); ++i) perm.push_back(before->perm[i] - 1);
  const ir::NodeId rows =
      call.emit("aten::flatten.using_ints", {{"self", ref(before->of)}, {"start_dim", 1}});
  return FlattenedTranspose{rows, inverse(places_of(*sizes, perm))};
}

}  // namespace mase::onnx
