// SPDX-License-Identifier: Apache-2.0
// The ports of a node that can have a format, and the tensors they carry.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

/// Ports of a node that carry float32 tensors, the output included.
std::set<std::string> float_ports(const ir::Graph& graph, const ir::Node& node);

/// Shapes of the float32 tensors on a port, as far as they are known.
std::vector<Shape> port_shapes(const ir::Graph& graph, const ir::Node& node,
                               const std::string& port);

/// Whether a port carries what the graph computes, or an input.
bool carries_data(const ir::Graph& graph, const ir::Node& node, const std::string& port);

/// One line per tensor of the node that cannot have the format of its port, and per port of data
/// whose format is for channels.
std::vector<std::string> shape_faults(const ir::Graph& graph, const ir::Node& node);

}  // namespace mase::passes
