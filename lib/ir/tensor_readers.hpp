// SPDX-License-Identifier: Apache-2.0
// Through which formats the nodes of a graph read its tensors.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ir/graph.hpp"

namespace mase::ir {

/// What the readers of a tensor have in common.
struct TensorReaders {
  std::optional<formats::Format> format;  ///< one that a reader reads through
  bool differ = false;                    ///< others read through another one, or none
  /// First index and number along dimension 0 that a reader gets: the projections of an attention
  /// layer are parts of one tensor. A scalar has one.
  std::set<std::pair<std::int64_t, std::int64_t>> parts;
};

/// By path. Readers of the parts that `chunk` and `split` make are readers of the tensor.
std::map<std::string, TensorReaders> tensor_readers(const Graph& graph);

/// In how many places the graph names a tensor, by path: layers, get_attr nodes, bodies of leaves.
std::map<std::string, int> tensor_uses(const Graph& graph);

/// The tensors whose readers all read through one format.
std::map<std::string, formats::Format> common_formats(const Graph& graph);

}  // namespace mase::ir
