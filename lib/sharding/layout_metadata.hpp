// SPDX-License-Identifier: Apache-2.0
// Layouts as metadata of nodes, in the reference system's place and words.
#pragma once

#include <optional>
#include <vector>

#include "sharding/choose_layouts.hpp"

namespace mase::sharding {

/// Stores the layouts of a node as `autosharding` of its software metadata:
///
///     {"input": {"data_in_0": ["R", "S_1"], "weight": ["R", "S_1"], "bias": ["R"]},
///      "output": {"data_out_0": ["R", "R"]},
///      "computed": {"data_out_0": ["R", "R"]},
///      "partial": {"bias": [1], "data_out_0": [1]}}
///
/// "output" is where readers find the result. "computed" is there if the result is computed in
/// another layout, and "partial" has the mesh axes along which tensors are addends of a sum.
void write_layout(ir::Node& node, const NodeLayout& layout);

/// The layouts in a node's metadata.
struct StoredLayout {
  std::vector<Layout> operands;  ///< one per operand
  Layout computed, result;
};
/// Reads what write_layout has stored. Error(Fault::file) names the node if its metadata are
/// missing or do not fit it.
StoredLayout read_layout(const ir::Node& node, const std::vector<Operand>& operands,
                         const Mesh& mesh);

/// Stores the sizes of the mesh with the output of the graph, as "mesh": [rows, columns].
void write_mesh(ir::Graph& graph, const Mesh& mesh);
/// The mesh whose layouts the graph has, with its sizes alone; nothing if it has no layouts.
std::optional<Mesh> read_mesh(const ir::Graph& graph);

}  // namespace mase::sharding
