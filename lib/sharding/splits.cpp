// SPDX-License-Identifier: Apache-2.0
// The table of rules. Most families follow from the map of their dimensions.
#include "sharding/splits.hpp"

#include <algorithm>

#include "base/from_front.hpp"
#include "ir/dimension_map.hpp"
#include "ir/inference.hpp"
#include "ir/op_table.hpp"
#include "ir/space_dims.hpp"

namespace mase::sharding {
namespace {

using Splits = std::vector<Split>;

/// What a rule sees of a node.
struct Loops {
  const ir::Graph& graph;
  const ir::Node& node;
  const std::vector<Operand>& operands;
  std::string op;
  const Shape& result;

  std::size_t rank() const { return result.size(); }
  const Shape& shape(std::size_t operand) const { return operands[operand].shape(); }
  std::size_t rank_of(std::size_t operand) const { return shape(operand).size(); }
  std::optional<std::size_t> find(std::string_view argument) const {
    const auto found = std::ranges::find(operands, argument, &Operand::argument);
    if (found == operands.end()) return std::nullopt;
    return static_cast<std::size_t>(found - operands.begin());
  }

  /// A loop over a dimension of the result, to which the caller adds those of operands.
  Split over(std::size_t dim) const {
    return {std::vector<int>(operands.size(), whole_operand), dim};
  }
  /// A loop whose results are summed.
  Split summed() const { return {std::vector<int>(operands.size(), whole_operand), std::nullopt}; }
  static void set(Split& split, std::optional<std::size_t> operand, std::size_t dim) {
    if (operand) split.operands[*operand] = static_cast<int>(dim);
  }
  static void once(Split& split, std::optional<std::size_t> operand) {
    if (operand) split.operands[*operand] = once_operand;
  }
};

/// Functions of elements: dimensions align at the last one, and those of size 1 are repeated.
Splits elements(const Loops& loops) {
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    if (loops.result[dim] == 1) continue;
    Split split = loops.over(dim);
    for (std::size_t i = 0; i < loops.operands.size(); ++i) {
      const std::size_t missing = loops.rank() - std::min(loops.rank(), loops.rank_of(i));
      if (dim < missing || loops.shape(i)[dim - missing] == 1) continue;
      Loops::set(split, i, dim - missing);
    }
    all.push_back(std::move(split));
  }
  return all;
}

/// Ops of one tensor, whose dimension map says which places come from the same places.
Splits mapped(const Loops& loops) {
  const auto map = ir::dimension_map(loops.graph, loops.node);
  if (!map || loops.operands.size() != 1) return {};
  const bool is_triangle = loops.op == "triu" || loops.op == "tril";
  Splits all;
  for (std::size_t dim = 0; dim < std::min(loops.rank(), map->size()); ++dim) {
    const auto& [of, places] = (*map)[dim];
    if (!of || places != ir::Places::same) continue;
    if (is_triangle && dim + 2 >= loops.rank()) continue;
    Split split = loops.over(dim);
    Loops::set(split, 0, *of);
    all.push_back(std::move(split));
  }
  return all;
}

Splits sums(const Loops& loops) {
  if (loops.operands.size() > 1) return elements(loops);
  Splits all = mapped(loops);
  const auto map = ir::dimension_map(loops.graph, loops.node);
  if (!map || loops.op != "sum") return all;
  for (std::size_t dim = 0; dim < loops.rank_of(0); ++dim) {
    if (ir::place_of(*map, dim)) continue;
    Split split = loops.summed();
    Loops::set(split, 0, dim);
    all.push_back(std::move(split));
  }
  return all;
}

/// [..., inputs] x [outputs, inputs] + [outputs].
Splits linear(const Loops& loops) {
  const auto input = loops.find("input"), weight = loops.find("weight"), bias = loops.find("bias");
  if (!input || !weight || loops.rank_of(*weight) != 2) return {};
  Splits all;
  for (std::size_t dim = 0; dim + 1 < loops.rank(); ++dim) {
    all.push_back(loops.over(dim));
    Loops::set(all.back(), input, dim);
  }
  Split outputs = loops.over(loops.rank() - 1);
  Loops::set(outputs, weight, 0);
  Loops::set(outputs, bias, 0);
  all.push_back(std::move(outputs));
  Split inputs = loops.summed();
  Loops::set(inputs, input, loops.rank_of(*input) - 1);
  Loops::set(inputs, weight, 1);
  Loops::once(inputs, bias);
  all.push_back(std::move(inputs));
  return all;
}

/// addmm and baddbmm: [..., n, k] x [..., k, m] and an addend that broadcasts to the result.
Splits added_products(const Loops& loops) {
  const bool is_batch = loops.op == "baddbmm";
  const auto addend = loops.find("self"), left = loops.find(is_batch ? "batch1" : "mat1"),
             right = loops.find(is_batch ? "batch2" : "mat2");
  if ((!is_batch && loops.op != "addmm") || !addend || !left || !right) return {};
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    Split split = loops.over(dim);
    if (dim + 1 < loops.rank()) Loops::set(split, left, dim);
    if (dim + 2 != loops.rank()) Loops::set(split, right, dim);
    const std::size_t missing = loops.rank() - loops.rank_of(*addend);
    if (dim >= missing && loops.shape(*addend)[dim - missing] != 1)
      Loops::set(split, addend, dim - missing);
    all.push_back(std::move(split));
  }
  Split inner = loops.summed();
  Loops::set(inner, left, loops.rank() - 1);
  Loops::set(inner, right, loops.rank() - 2);
  Loops::once(inner, addend);
  all.push_back(std::move(inner));
  return all;
}

/// [..., n, k] x [..., k, m]; the dimensions before broadcast.
Splits products(const Loops& loops) {
  if (loops.operands.size() != 2 || loops.rank_of(0) < 2 || loops.rank_of(1) < 2) return {};
  Splits all = elements(loops);
  std::erase_if(all, [&](const Split& split) { return *split.result + 2 >= loops.rank(); });
  Split rows = loops.over(loops.rank() - 2), columns = loops.over(loops.rank() - 1);
  Loops::set(rows, 0, loops.rank_of(0) - 2);
  Loops::set(columns, 1, loops.rank_of(1) - 1);
  Split inner = loops.summed();
  Loops::set(inner, 0, loops.rank_of(0) - 1);
  Loops::set(inner, 1, loops.rank_of(1) - 2);
  for (Split* split : {&rows, &columns, &inner}) all.push_back(std::move(*split));
  return all;
}

/// softmax(query key^T) value on [..., length, size], row by row of the query.
Splits attention(const Loops& loops) {
  const auto query = loops.find("query"), key = loops.find("key"), value = loops.find("value");
  if (!query || !key || !value || loops.rank_of(*key) != loops.rank()) return {};
  const auto mask = loops.find("attn_mask");
  const ir::Value* causal = loops.graph.argument(loops.node, "is_causal");
  const bool is_causal = causal && !(*causal == ir::Value(false));
  Splits all;
  for (std::size_t dim = 0; dim + 1 < loops.rank() - (is_causal ? 1 : 0); ++dim) {
    Split split = loops.over(dim);
    Loops::set(split, query, dim);
    if (dim + 2 < loops.rank())
      for (const auto& other : {key, value}) Loops::set(split, other, dim);
    const std::size_t missing = mask ? loops.rank() - loops.rank_of(*mask) : 0;
    if (mask && dim >= missing && loops.shape(*mask)[dim - missing] != 1)
      Loops::set(split, mask, dim - missing);
    all.push_back(std::move(split));
  }
  Split features = loops.over(loops.rank() - 1);
  Loops::set(features, value, loops.rank() - 1);
  all.push_back(std::move(features));
  return all;
}

/// Every dimension before those that are normalized.
Splits normalized(const Loops& loops) {
  const auto* sizes = ir::items_of(loops.graph.argument(loops.node, "normalized_shape"));
  if (!sizes || sizes->size() > loops.rank()) return {};
  Splits all;
  for (std::size_t dim = 0; dim + sizes->size() < loops.rank(); ++dim) {
    all.push_back(loops.over(dim));
    Loops::set(all.back(), loops.find("input"), dim);
  }
  return all;
}

/// Every dimension; the parameters belong to channels, dimension 1.
Splits per_channel(const Loops& loops) {
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    Split split = loops.over(dim);
    Loops::set(split, 0, dim);
    if (dim == 1)
      for (std::size_t i = 1; i < loops.operands.size(); ++i)
        if (loops.rank_of(i) == 1) Loops::set(split, i, 0);
    all.push_back(std::move(split));
  }
  return all;
}

/// Channels one by one, and images if there is a batch: all dimensions before those of the space.
Splits images(const Loops& loops) {
  const auto space = ir::space_dims(loops.op);
  if (loops.operands.size() != 1 || !space) return {};
  Splits all;
  for (std::size_t dim = 0; dim + *space < loops.rank(); ++dim) {
    all.push_back(loops.over(dim));
    Loops::set(all.back(), 0, dim);
  }
  return all;
}

Splits convolution(const Loops& loops) {
  const auto input = loops.find("input"), weight = loops.find("weight"), bias = loops.find("bias");
  if (!input || !weight || loops.rank_of(*input) != loops.rank_of(*weight)) return {};
  Split rows = loops.over(0);
  Loops::set(rows, input, 0);
  const ir::Value* groups = loops.graph.argument(loops.node, "groups");
  if (groups && !(*groups == ir::Value(1))) return {rows};
  Split outputs = loops.over(1), inputs = loops.summed();
  Loops::set(outputs, weight, 0);
  Loops::set(outputs, bias, 0);
  Loops::set(inputs, input, 1);
  Loops::set(inputs, weight, 1);
  Loops::once(inputs, bias);
  return {rows, outputs, inputs};
}

/// Rows of a table, looked up at each index. Devices that have some of the rows give zeros for the
/// others (Shoeybi et al., "Megatron-LM", 2019, section 3).
Splits embedding(const Loops& loops) {
  const auto indices = loops.find("indices"), weight = loops.find("weight");
  if (!indices || !weight || loops.rank() != loops.rank_of(*indices) + 1) return {};
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    const bool is_feature = dim + 1 == loops.rank();
    all.push_back(loops.over(dim));
    Loops::set(all.back(), is_feature ? weight : indices, is_feature ? 1 : dim);
  }
  all.push_back(loops.summed());
  Loops::set(all.back(), weight, 0);
  return all;
}

/// The elements stay in order: of dimensions with the same product the outermost ones correspond.
Splits reshaped(const Loops& loops) {
  if (loops.operands.size() != 1 || loops.op == "unflatten") return {};
  const Shape &from = loops.shape(0), &to = loops.result;
  Splits all;
  std::size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    if (from[i] == 1 || to[j] == 1) {
      ++(from[i] == 1 ? i : j);
      continue;
    }
    Split split = loops.over(j);
    Loops::set(split, 0, i);
    all.push_back(std::move(split));
    std::int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right ? i == from.size() : j == to.size()) return {};
      left < right ? left *= from[i++] : right *= to[j++];
    }
  }
  return all;
}

/// New places are copies, so devices can have some of them without a part of the input.
Splits expanded(const Loops& loops) {
  if (loops.operands.size() != 1) return {};
  Splits all = mapped(loops);
  const auto map = ir::dimension_map(loops.graph, loops.node);
  for (std::size_t dim = 0; map && dim < loops.rank(); ++dim)
    if (!(*map)[dim].of && loops.result[dim] > 1) all.push_back(loops.over(dim));
  return all;
}

/// All dimensions but the one along which tensors are joined.
Splits joined(const Loops& loops) {
  const auto map = ir::dimension_map(loops.graph, loops.node);
  if (!map || loops.rank_of(0) != loops.rank()) return {};
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank(); ++dim) {
    if ((*map)[dim].places != ir::Places::same) continue;
    all.push_back({std::vector<int>(loops.operands.size(), static_cast<int>(dim)), dim});
  }
  return all;
}

/// Every place is repeated next to itself, so parts stay in order.
Splits repeated(const Loops& loops) {
  const bool once_each = loops.op == "repeat_interleave" && loops.rank_of(0) == loops.rank() &&
                         !loops.graph.argument(loops.node, "output_size");
  const ir::Value* repeats = loops.graph.argument(loops.node, "repeats");
  const ir::Value* dim = loops.graph.argument(loops.node, "dim");
  if (!once_each || loops.operands.size() != 1 || !repeats || !repeats->is_number() || !dim ||
      dim->kind() != ir::Value::Kind::integer)
    return {};
  Splits all;
  for (std::size_t place = 0; place < loops.rank(); ++place) {
    all.push_back(loops.over(place));
    Loops::set(all.back(), 0, place);
  }
  return all;
}

Splits moved(const Loops& loops) {
  const bool is_item =
      loops.op == "getitem" && !loops.operands.empty() && !loops.operands.front().info.is_tensor();
  return is_item ? elements(loops) : mapped(loops);
}

struct SplitRule {
  ir::OpFamily family;
  Splits (*splits)(const Loops&);
};

constexpr SplitRule split_rules[] = {
    {ir::OpFamily::linear, linear},
    {ir::OpFamily::matrix_product, products},
    {ir::OpFamily::added_product, added_products},
    {ir::OpFamily::attention, attention},
    {ir::OpFamily::convolution, convolution},
    {ir::OpFamily::embedding, embedding},
    {ir::OpFamily::layer_norm, normalized},
    {ir::OpFamily::batch_norm, per_channel},
    {ir::OpFamily::channel_activation, per_channel},
    {ir::OpFamily::pooling, images},
    {ir::OpFamily::adaptive_pooling, images},
    {ir::OpFamily::unary, elements},
    {ir::OpFamily::elementwise, elements},
    {ir::OpFamily::softmax, mapped},
    {ir::OpFamily::scan, mapped},
    {ir::OpFamily::difference, mapped},
    {ir::OpFamily::reduction, sums},
    {ir::OpFamily::arg_reduction, mapped},
    {ir::OpFamily::copy, elements},
    {ir::OpFamily::reshape, reshaped},
    {ir::OpFamily::transpose, mapped},
    {ir::OpFamily::permute, mapped},
    {ir::OpFamily::expand, expanded},
    {ir::OpFamily::pad, mapped},
    {ir::OpFamily::concatenation, joined},
    {ir::OpFamily::movement, moved},
    {ir::OpFamily::other, repeated},
};

}  // namespace

std::vector<Split> splits_of(const ir::Graph& graph, const ir::Node& node,
                             const std::vector<Operand>& operands) {
  const Shape* result = shape_of(node.info);
  if (!result || operands.empty() || node.op.empty()) return {};
  const ir::Classified what = ir::classify(graph, node);
  const Loops loops{graph, node, operands, what.op, *result};
  if (what.family() == ir::OpFamily::other && ir::is_of_elements(node.op)) return elements(loops);
  const auto rule = std::ranges::find(split_rules, what.family(), &SplitRule::family);
  return rule == std::end(split_rules) ? Splits() : rule->splits(loops);
}

}  // namespace mase::sharding
