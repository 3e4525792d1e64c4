// SPDX-License-Identifier: Apache-2.0
// Loops of functions of elements, of sums, and of operators that move elements.
#include <algorithm>

#include "ir/dimension_map.hpp"
#include "sharding/split_rules.hpp"

namespace mase::sharding::split_rules {

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

namespace {

/// One of several results. States of a recurrent layer may have the batch in another dimension than
/// its sequences, which come first.
Splits item_of_list(const Loops& loops) {
  const Operand& list = loops.operands.front();
  const ir::Value* index = loops.graph.argument(loops.node, "index");
  const auto batch = list.source == ir::no_node
                         ? std::nullopt
                         : batch_of_sequences(loops.graph, loops.graph.node(list.source));
  if (batch && !(index && *index == ir::Value(0))) {
    Split rows = loops.over(batch_of_states);
    Loops::set(rows, 0, *batch);
    return {rows};
  }
  Splits all;
  for (std::size_t dim = 0; dim < loops.rank() && loops.rank_of(0) == loops.rank(); ++dim) {
    all.push_back(loops.over(dim));
    Loops::set(all.back(), 0, dim);
  }
  return all;
}

}  // namespace

Splits moved(const Loops& loops) {
  const bool is_item =
      loops.op == "getitem" && !loops.operands.empty() && !loops.operands.front().info.is_tensor();
  return is_item ? item_of_list(loops) : mapped(loops);
}

}  // namespace mase::sharding::split_rules
