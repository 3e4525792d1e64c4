// SPDX-License-Identifier: Apache-2.0
// Node metadata in the schema of the reference system, computed from the graph, and the graph as
// JSON.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::ir {

/// {"mase_type", "mase_op", "args", "results"}: each argument and result has shape and precision.
Tree common_metadata(const Graph& graph, const Node& node);
/// {"args", "results"}, each with room for statistics.
Tree software_metadata(const Graph& graph, const Node& node);
/// The whole graph: {"nodes": [{"name", "op", "target", "args", "kwargs", "metadata"}, ...]}.
Tree graph_json(const Graph& graph);
/// One table per node with common, software and hardware: the content of node_meta_param.toml.
Tree metadata_tree(const Graph& graph);

}  // namespace mase::ir
