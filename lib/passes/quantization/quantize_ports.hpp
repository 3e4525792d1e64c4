// SPDX-License-Identifier: Apache-2.0
// The ports of a node that can have a format, and the tensors that they carry.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::passes {

/// The ports of a node that carry float32 tensors, including its output.
std::set<std::string> float_ports(const ir::Graph& graph, const ir::Node& node);

/// The known shapes of the float32 tensors on a port.
std::vector<Shape> port_shapes(const ir::Graph& graph, const ir::Node& node,
                               const std::string& port);

/// True when a port carries an input of the graph or a value that the graph computes.
bool carries_data(const ir::Graph& graph, const ir::Node& node, const std::string& port);

/// One line for each tensor of the node that cannot have the format of its port, and for each port
/// of data that has a per-channel format.
std::vector<std::string> shape_faults(const ir::Graph& graph, const ir::Node& node);

}  // namespace mase::passes
