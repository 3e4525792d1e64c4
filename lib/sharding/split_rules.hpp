// SPDX-License-Identifier: Apache-2.0
// The rules behind splits_of, each of which finds the loops of a family of operators.
#pragma once

#include <string>
#include <string_view>

#include "sharding/splits.hpp"

namespace mase::sharding::split_rules {

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
  /// An argument that is a number greater than 0; 0 for others.
  std::int64_t count(std::string_view argument) const {
    const ir::Value* value = graph.argument(node, argument);
    const bool counts = value && value->kind() == ir::Value::Kind::integer && value->as_int() > 0;
    return counts ? value->as_int() : 0;
  }
  static void once(Split& split, std::optional<std::size_t> operand) {
    if (operand) split.operands[*operand] = once_operand;
  }
};

// Each takes only what it can share, and returns nothing for other nodes of its family.
Splits elements(const Loops& loops);
Splits mapped(const Loops& loops);
Splits sums(const Loops& loops);
Splits linear(const Loops& loops);
Splits added_products(const Loops& loops);
Splits products(const Loops& loops);
Splits attention(const Loops& loops);
Splits normalized(const Loops& loops);
Splits per_channel(const Loops& loops);
Splits images(const Loops& loops);
Splits transposed_convolution(const Loops& loops);
Splits contraction(const Loops& loops);
Splits recurrent(const Loops& loops);
Splits recurrent_cell(const Loops& loops);
Splits group_norm(const Loops& loops);
Splits channels(const Loops& loops);
Splits convolution(const Loops& loops);
Splits embedding(const Loops& loops);
Splits reshaped(const Loops& loops);
Splits expanded(const Loops& loops);
Splits joined(const Loops& loops);
Splits repeated(const Loops& loops);
Splits moved(const Loops& loops);

}  // namespace mase::sharding::split_rules
