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

/// Stores the sizes of the mesh with the output of the graph, as "mesh": [rows, columns]. In a
/// pipeline it is the mesh of one stage, and "stages" is their number.
void write_mesh(ir::Graph& graph, const Mesh& mesh, std::size_t stages = 1);
/// Stores the stage that computes a node, as "device_id" beside the layouts.
void write_stage(ir::Node& node, std::size_t stage);
/// Reads it. Error(Fault::file) names the node if it has none below `stages`.
std::size_t read_stage(const ir::Node& node, std::size_t stages);
/// The number of stages whose layouts the graph has; 1 for a graph without stages.
std::size_t read_stages(const ir::Graph& graph);
/// The mesh whose layouts the graph has, with its sizes alone; nothing if it has no layouts.
std::optional<Mesh> read_mesh(const ir::Graph& graph);

}  // namespace mase::sharding
