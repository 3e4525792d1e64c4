// SPDX-License-Identifier: Apache-2.0
// Drawing a graph: graphviz text, and pictures through the `dot` program.
#pragma once

#include <string>

#include "ir/graph.hpp"

namespace mase::ir {

/// A box per node with name, kind, shape and formats, coloured by kind or as quantized, an arrow
/// per use; the layers of a module container stand in a box of its name.
std::string to_dot(const Graph& graph);
/// The same drawn by graphviz's `dot` as "svg", "png" or "pdf"; Error(Fault::file) that says how to
/// get it when it is missing.
std::string to_picture(const Graph& graph, const std::string& format);

}  // namespace mase::ir
