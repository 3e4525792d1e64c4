// SPDX-License-Identifier: Apache-2.0
// The formats that values get after ops that only clamp, choose or move them. Rounding before these
// ops gives the same values, and hardware rounds there.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::passes {

/// The format of a port; null when it has no format.
const formats::Format* format_at(const ir::Node& node, const std::string& port);
/// The format of the data at a port: the port's own or, for an op without formats that passes on
/// values (relu), the format of the readers of its result.
const formats::Format* data_format(const ir::Graph& graph, const ir::Node& node,
                                   const std::string& port);
/// The widest format that the readers of a result give it; null when a reader gives no format.
const formats::Format* readers_format(const ir::Graph& graph, ir::NodeId id);
/// The same for a parameter that nodes read (a class token that is joined to a stream); null for
/// parameters of layers.
const formats::Format* parameter_format(const ir::Graph& graph, const std::string& path);

}  // namespace mase::passes
