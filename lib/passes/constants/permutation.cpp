// SPDX-License-Identifier: Apache-2.0
// Reads the two named dimensions, or the list of all dimensions.
#include "passes/constants/permutation.hpp"

#include <numeric>

#include "passes/constants/batch_powers.hpp"

namespace mase::passes {
namespace {

using DimOrder = std::vector<std::size_t>;

std::optional<DimOrder> swapped(const ir::Graph& graph, const ir::Node& node, DimOrder dims) {
  const auto a = named_dimension(graph, node, "dim0", dims.size(), 0);
  const auto b = named_dimension(graph, node, "dim1", dims.size(), 1);
  if (!a || !b || (ir::base_op(node.op) == "aten::t" && dims.size() != 2)) return std::nullopt;
  std::swap(dims[*a], dims[*b]);
  return dims;
}

std::optional<DimOrder> listed(const ir::Node& node, DimOrder dims) {
  const ir::Value::List* given = items_of(node.find("dims"));
  if (!given || given->size() != dims.size()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if ((*given)[d].kind() != ir::Value::Kind::integer) return std::nullopt;
    dims[d] = static_cast<std::size_t>(((*given)[d].as_int() + rank) % rank);
  }
  return dims;
}

}  // namespace

std::optional<DimOrder> permutation_of(const ir::Graph& graph, const ir::Node& node) {
  DimOrder dims(node.info.shape.size());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  switch (ir::classify(graph, node).family()) {
    case ir::OpFamily::transpose:
      return swapped(graph, node, std::move(dims));
    case ir::OpFamily::permute:
      return listed(node, std::move(dims));
    default:
      return std::nullopt;
  }
}

}  // namespace mase::passes
