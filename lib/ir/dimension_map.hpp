// SPDX-License-Identifier: Apache-2.0
// Which dimension of a result is which dimension of the input: one rule per family of ops, for all
// that follow a batch, channels or rows through a graph.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/op_table.hpp"

namespace mase::ir {

/// What the places along a dimension of a result are made of.
enum class Places {
  same,   ///< place i of the input's place i alone
  mixed,  ///< as many places, each of several of the input's, or of another one: softmax, flip
  other,  ///< places chosen from the input's, or added to them: slices, pads, concatenations
};

/// One dimension of a result.
struct ResultDimension {
  std::optional<std::size_t> of;  ///< the input's dimension; none for a new one
  Places places = Places::same;
  bool operator==(const ResultDimension&) const = default;
};

/// The dimensions of a result in their order. The input's dimensions that are not among them are
/// gone: reduced, or one place of them chosen.
using DimensionMap = std::vector<ResultDimension>;

/// What the dimensions of a node's first input are in its result (for a list, in each tensor of
/// it). Nothing where an op has no rule (a view joins dimensions and takes them apart), where an
/// argument is not constant, and where the input has no such dimension.
std::optional<DimensionMap> dimension_map(const Graph& graph, const Node& node);

/// The place in the result of the input's dimension; nothing when it is gone.
std::optional<std::size_t> place_of(const DimensionMap& map, std::size_t dim);

/// For ops that reorder dimensions alone: which dimension of the input each one of the result is.
/// Nothing for other ops, and where that is not known.
std::optional<std::vector<std::size_t>> permutation_of(const Graph& graph, const Node& node);

/// True for families whose results have elements of the input, or constants, and nothing else. The
/// elements may be others, and at other places.
bool only_moves(OpFamily family);

/// The one dimension that an argument names, counted from the front; nothing where it names several
/// or is not constant, or where `rank` is too small.
std::optional<std::size_t> named_dimension(const Graph& graph, const Node& node,
                                           std::string_view argument, std::size_t rank,
                                           std::int64_t otherwise);

/// Items of a list or tuple; null for other values.
const Value::List* items_of(const Value* value);

}  // namespace mase::ir
