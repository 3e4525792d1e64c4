// SPDX-License-Identifier: Apache-2.0
// The formats through which the nodes of a graph read its tensors.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ir/graph.hpp"

namespace mase::ir {

/// How the nodes that read a tensor read it.
struct TensorReaders {
  std::optional<formats::Format> format;  ///< a format through which a reader reads it
  bool differ = false;                    ///< another reader uses another format, or no format
  /// The parts that readers take, as first index and size along dimension 0: the projections of an
  /// attention layer are parts of one tensor. A scalar counts as size 1.
  std::set<std::pair<std::int64_t, std::int64_t>> parts;
};

/// The readers of every tensor, by path. A reader of a part that `chunk` or `split` makes counts.
std::map<std::string, TensorReaders> tensor_readers(const Graph& graph);

/// The number of places that name a tensor, by path: layers, get_attr nodes and bodies of leaves.
std::map<std::string, int> tensor_uses(const Graph& graph);

/// The tensors that all their readers read through one format, with that format.
std::map<std::string, formats::Format> common_formats(const Graph& graph);

}  // namespace mase::ir
