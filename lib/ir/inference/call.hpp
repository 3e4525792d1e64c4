// SPDX-License-Identifier: Apache-2.0
// Call: a node as the rule of its operator sees it, with all arguments by name, whether the node
// calls a function or a layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"
#include "ir/inference.hpp"

namespace mase::ir {

/// Reads the arguments of one call. Errors name the operator and the operands. A value that is not
/// known reads as 0 or 1 and makes the whole result unknown.
class Call {
 public:
  using Integers = std::vector<std::int64_t>;

  Call(const Graph& graph, const Node& node, const KnownResults& known)
      : graph_(graph), node_(node), known_(known) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  const KnownResults& known() const { return known_; }
  /// The base name of the operator, "aten::add", for layers too.
  std::string_view op() const;

  /// The constant or reference of an argument; nullptr if it is left out or None.
  const Value* value(std::string_view name) const;
  /// What is known about an argument, a layer's tensor too; nullopt if it is left out or None.
  std::optional<ValueInfo> find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name).has_value(); }
  /// A tensor; Error if the argument is something else.
  ValueInfo tensor(std::string_view name) const;
  /// The tensors of a list.
  std::vector<ValueInfo> tensors(std::string_view name) const;
  /// The first tensor: the argument `self` or `input`, else the first one of the node.
  ValueInfo input() const;
  /// What is known about a value: constants, references and containers of both.
  ValueInfo info_of(const Value& value) const;

  /// The integer that a value is.
  std::int64_t integer_of(const Value& value) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  /// A number of a list; one number is a list, too.
  double number_at(std::string_view name, std::size_t place) const;
  bool truth(std::string_view name, bool otherwise) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  /// The integers of a list; one integer is a list, too. Empty if the argument is left out.
  Integers integers(std::string_view name) const;
  /// The same for `count` dimensions: one integer holds for all, and `otherwise` if none is given.
  Integers integers(std::string_view name, std::size_t count, std::int64_t otherwise) const;
  /// The dtype that an argument names; nullopt if it names none.
  std::optional<DType> dtype(std::string_view name = "dtype") const;

  /// A dimension of a tensor of this rank, counted from the front.
  std::size_t dimension(std::int64_t index, std::size_t rank) const;
  std::size_t dimension(std::string_view name, std::size_t rank, std::int64_t otherwise) const;
  /// The dimensions that an argument names; all if it is left out or an empty list.
  std::vector<bool> dimensions(std::string_view name, std::size_t rank) const;
  /// The common shape of operands whose dimensions align at the last one and repeat where they
  /// are 1.
  Shape broadcast(const std::vector<Shape>& shapes) const;
  /// The common dtype of operands; Error if there is none.
  DType promoted(const std::vector<ValueInfo>& operands) const;

  /// Sums and products of sizes; Error if they do not fit 64 bits.
  std::int64_t sum(std::int64_t a, std::int64_t b) const;
  std::int64_t product(std::int64_t a, std::int64_t b) const;
  /// The number of elements; Error if it does not fit 64 bits or a size is negative.
  std::int64_t elements(const Shape& shape) const;
  /// Error if a size is so large that products of two do not fit 64 bits.
  void require_moderate(const Shape& shape) const;

  /// Throws an Error that names the operator and the operands.
  [[noreturn]] void misfit(const std::string& why) const;
  void require(bool fits, const std::string& why) const {
    if (!fits) misfit(why);
  }
  /// From now on the result counts as unknown.
  void depends_on_values() const { unknown_ = true; }
  bool is_unknown() const { return unknown_; }

 private:
  std::optional<Value> evaluated(const Value& value) const;
  double number_of(const Value& value) const;
  std::string operands_text() const;

  const Graph& graph_;
  const Node& node_;
  const KnownResults& known_;
  mutable bool unknown_ = false;
};

}  // namespace mase::ir
