// SPDX-License-Identifier: Apache-2.0
// Nodes that read the shape of a tensor.
#pragma once

#include <optional>

#include "ir/graph.hpp"

namespace mase::passes {

struct SizeRead {
  ir::NodeId tensor = ir::no_node;
  std::optional<std::size_t> dim;  ///< nullopt: the list of all sizes
};

/// What `aten::size`, or an item of its list, reads; nullopt for other nodes, and when dimension or
/// shape is unknown.
std::optional<SizeRead> size_read(const ir::Graph& graph, const ir::Node& node);

}  // namespace mase::passes
