// SPDX-License-Identifier: Apache-2.0
// Drawing a graph: graphviz text, and pictures through the `dot` program.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::ir {

/// Graphviz text with one box per node and one arrow per use. A box shows name, kind, shape and
/// formats; its colour, the kind or that it is quantized. A container has a box round its layers.
std::string to_dot(const Graph& graph);
/// The picture that graphviz's `dot` draws of it, as "svg", "png" or "pdf". When `dot` is missing,
/// Error(Fault::file) says how to get it.
std::string to_picture(const Graph& graph, const std::string& format);

}  // namespace mase::ir
