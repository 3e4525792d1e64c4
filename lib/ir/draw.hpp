// SPDX-License-Identifier: Apache-2.0
// Drawing a graph: graphviz text, and SVG through the `dot` program.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::ir {

/// A box per node with name, kind, shape and formats, an arrow per use.
std::string to_dot(const Graph& graph);
/// Runs graphviz's `dot`; Error(Fault::file) that says how to get it when it is missing.
std::string to_svg(const Graph& graph);

}  // namespace mase::ir
