// SPDX-License-Identifier: Apache-2.0
// The rule of each family. Every rule begins with the input's dimensions and says what differs.
#include "ir/dimension_map.hpp"

#include <algorithm>
#include <array>

#include "base/from_front.hpp"

namespace mase::ir {
namespace {

using Kind = Value::Kind;
using Map = std::optional<DimensionMap>;
using Dims = std::optional<std::vector<std::size_t>>;

DimensionMap identity(std::size_t rank) {
  DimensionMap map;
  for (std::size_t d = 0; d < rank; ++d) map.push_back({d});
  return map;
}

std::ptrdiff_t offset(std::size_t dim) { return static_cast<std::ptrdiff_t>(dim); }

/// The rules' view of a node.
struct DimensionRules {
  const Graph& graph;
  const Node& node;
  const Shape& from;

  std::size_t rank() const { return from.size(); }
  const Shape& to() const {
    return node.info.elements.empty() ? node.info.shape : node.info.elements.front().shape;
  }

  /// The dimensions that an argument names, one or several.
  Dims named(std::string_view argument) const {
    const Value* value = graph.argument(node, argument);
    const Value::List single{value ? *value : Value()};
    const Value::List* items = items_of(value);
    std::vector<std::size_t> dims;
    for (const Value& item : items ? *items : single) {
      const auto dim =
          item.kind() == Kind::integer ? from_front(item.as_int(), rank()) : std::nullopt;
      if (!dim) return std::nullopt;
      dims.push_back(*dim);
    }
    return dims;
  }

  Map with(const Dims& dims, Places places) const {
    if (!dims) return std::nullopt;
    DimensionMap map = identity(rank());
    for (const std::size_t dim : *dims) map[dim].places = places;
    return map;
  }

  /// Along the one dimension that `dim` names, the first one where it is left out.
  Map along(Places places) const {
    const auto dim = named_dimension(graph, node, "dim", rank(), 0);
    return dim ? with(std::vector{*dim}, places) : std::nullopt;
  }

  /// Along the one dimension that `dim` names, the last one where it is left out.
  Map differences() const {
    const auto dim = named_dimension(graph, node, "dim", rank(), -1);
    return dim ? with(std::vector{*dim}, Places::mixed) : std::nullopt;
  }

  Map without_dim() const {
    const auto dim = named_dimension(graph, node, "dim", rank(), 0);
    if (!dim) return std::nullopt;
    DimensionMap map = identity(rank());
    map.erase(map.begin() + offset(*dim));
    return map;
  }

  Map with_new_dim() const {
    const auto dim = named_dimension(graph, node, "dim", rank() + 1, 0);
    if (!dim) return std::nullopt;
    DimensionMap map = identity(rank());
    map.insert(map.begin() + offset(*dim), ResultDimension{});
    return map;
  }

  Map reduced() const {
    if (node.find("other")) return std::nullopt;  // elementwise, of two tensors
    const Value* given = graph.argument(node, "dim");
    const Value::List* items = items_of(given);
    const bool all = !given || given->is_none() || (items && items->empty());
    const Dims dims = all ? std::vector<std::size_t>() : named("dim");
    if (!dims) return std::nullopt;
    const bool keeps = to().size() == rank();
    DimensionMap map;
    for (std::size_t d = 0; d < rank(); ++d) {
      const bool gone = all || std::ranges::find(*dims, d) != dims->end();
      if (!gone) map.push_back({d});
      if (gone && keeps) map.emplace_back();
    }
    return map;
  }

  Map reshaped(std::string_view op) const {
    if (op == "unsqueeze") return with_new_dim();
    if (op != "squeeze" || !graph.argument(node, "dim")) return std::nullopt;
    return to().size() == rank() ? along(Places::same) : without_dim();
  }

  /// Dimensions align at the last one.
  Map expanded() const {
    if (rank() > to().size()) return std::nullopt;
    const std::size_t added = to().size() - rank();
    DimensionMap map(added);
    for (std::size_t d = 0; d < rank(); ++d)
      map.push_back(from[d] == to()[added + d] ? ResultDimension{d} : ResultDimension{});
    return map;
  }

  /// `pad` has two numbers per dimension, the last dimension first.
  Map padded() const {
    const Value::List* pads = items_of(graph.argument(node, "pad"));
    if (!pads || pads->size() > 2 * rank()) return std::nullopt;
    DimensionMap map = identity(rank());
    for (std::size_t i = 0; i < pads->size(); ++i)
      if (!((*pads)[i] == Value(0))) map[rank() - 1 - i / 2].places = Places::other;
    return map;
  }

  Map moved(std::string_view op) const {
    if (op == "getitem") return indexed();
    if (op == "triu" || op == "tril") return identity(rank());
    if (op == "flip" || op == "roll") return with(named("dims"), Places::mixed);
    if (op == "unbind" || op == "select") return without_dim();
    const bool ranges = op == "chunk" || op == "split" || op == "slice" || op == "narrow";
    return ranges || op == "index_select" ? along(Places::other) : std::nullopt;
  }

  /// Python's index of numbers, slices and None.
  Map indexed() const {
    const Value* index = node.find("index");
    if (!index) return std::nullopt;
    const Value::List single{*index};
    DimensionMap map;
    std::size_t at = 0;
    for (const Value& item : index->kind() == Kind::tuple ? index->items() : single) {
      if (item.is_none()) {
        map.emplace_back();
        continue;
      }
      const bool slice = item.kind() == Kind::slice;
      const bool whole = item == Value::slice({}, {}, {});
      if (at == rank() || (!slice && !is_whole_number(item))) return std::nullopt;
      if (slice) map.push_back({at, whole ? Places::same : Places::other});
      ++at;
    }
    for (; at < rank(); ++at) map.push_back({at});
    return map;
  }

  bool is_whole_number(const Value& item) const {
    if (item.is_node()) return graph.node(item.node()).info.kind == ValueInfo::Kind::integer;
    return item.kind() == Kind::integer;
  }

  Map swapped(std::string_view op) const {
    DimensionMap map = identity(rank());
    const bool of_matrices = op == "mT";
    const std::int64_t last = op == "t" && rank() < 2 ? 0 : 1;
    const auto a = named_dimension(graph, node, "dim0", rank(), of_matrices ? -2 : 0);
    const auto b = named_dimension(graph, node, "dim1", rank(), of_matrices ? -1 : last);
    if (!a || !b || (op == "t" && rank() > 2)) return std::nullopt;
    std::swap(map[*a], map[*b]);
    return map;
  }

  Map permuted(std::string_view op) const {
    if (op == "numpy_T") {
      DimensionMap map = identity(rank());
      std::ranges::reverse(map);
      return map;
    }
    const Dims dims = named("dims");
    if (!dims || dims->size() != rank()) return std::nullopt;
    DimensionMap map;
    for (const std::size_t dim : *dims) map.push_back({dim});
    return map;
  }

  Map of(const Classified& what) const {
    switch (what.family()) {
      using enum OpFamily;
      case unary:
      case channel_activation:
      case copy:
        return identity(rank());
      case softmax:
      case scan:
        return with(named("dim"), Places::mixed);
      case difference:
        return differences();
      case concatenation:
        return along(Places::other);
      case reduction:
      case arg_reduction:
        return reduced();
      case reshape:
        return reshaped(what.op);
      case transpose:
        return swapped(what.op);
      case permute:
        return permuted(what.op);
      case expand:
        return expanded();
      case pad:
        return padded();
      case movement:
        return moved(what.op);
      case linear:
      case convolution:
      case transposed_convolution:
      case matrix_product:
      case added_product:
      case contraction:
      case attention:
      case attention_layer:
      case recurrent:
      case recurrent_layer:
      case recurrent_cell:
      case batch_norm:
      case instance_norm:
      case group_norm:
      case layer_norm:
      case pooling:
      case adaptive_pooling:
      case resampling:
      case embedding:
      case elementwise:
      case size:
      case host_value:
      case creation:
      case custom:
      case other:
        return std::nullopt;
    }
    return std::nullopt;
  }
};

}  // namespace

std::optional<DimensionMap> dimension_map(const Graph& graph, const Node& node) {
  const std::vector<NodeId> inputs = graph.inputs(node.id);
  if (inputs.empty() || !graph.node(inputs.front()).info.is_tensor()) return std::nullopt;
  return DimensionRules{graph, node, graph.node(inputs.front()).info.shape}.of(
      classify(graph, node));
}

std::optional<std::size_t> place_of(const DimensionMap& map, std::size_t dim) {
  const auto found = std::ranges::find(map, dim, &ResultDimension::of);
  if (found == map.end()) return std::nullopt;
  return static_cast<std::size_t>(found - map.begin());
}

std::optional<std::vector<std::size_t>> permutation_of(const Graph& graph, const Node& node) {
  const OpFamily family = classify(graph, node).family();
  if (family != OpFamily::transpose && family != OpFamily::permute) return std::nullopt;
  const auto map = dimension_map(graph, node);
  if (!map) return std::nullopt;
  std::vector<std::size_t> dims;
  for (const ResultDimension& dim : *map) dims.push_back(*dim.of);
  return dims;
}

bool only_moves(OpFamily family) {
  using enum OpFamily;
  constexpr std::array moving{copy, reshape, transpose, permute, expand, movement};
  return std::ranges::find(moving, family) != moving.end();
}

std::optional<std::size_t> named_dimension(const Graph& graph, const Node& node,
                                           std::string_view argument, std::size_t rank,
                                           std::int64_t otherwise) {
  const Value* value = graph.argument(node, argument);
  if (const Value::List* items = items_of(value); items && items->size() == 1)
    value = &items->front();
  if (value && value->kind() != Kind::integer) return std::nullopt;
  return from_front(value ? value->as_int() : otherwise, rank);
}

const Value::List* items_of(const Value* value) {
  const bool has_items = value && (value->kind() == Kind::list || value->kind() == Kind::tuple);
  return has_items ? &value->items() : nullptr;
}

}  // namespace mase::ir
