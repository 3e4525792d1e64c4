// SPDX-License-Identifier: Apache-2.0
// Formats that values get behind ops that only clamp, choose or move them: their rounding may stand
// in front of these as well, and hardware puts it there.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::passes {

/// The format of a port; null without one.
const formats::Format* format_at(const ir::Node& node, const std::string& port);
/// The format of data at a port: its own, else that of what reads the result of an op without
/// formats that passes values on (relu).
const formats::Format* data_format(const ir::Graph& graph, const ir::Node& node,
                                   const std::string& port);
/// The format that the readers of a result give it, the widest; null where one of them gives none.
const formats::Format* readers_format(const ir::Graph& graph, ir::NodeId id);
/// The same of a parameter that nodes read (a class token that is joined to a stream); null for
/// those of layers.
const formats::Format* parameter_format(const ir::Graph& graph, const std::string& path);

}  // namespace mase::passes
