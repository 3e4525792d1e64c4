// SPDX-License-Identifier: Apache-2.0
// What an ONNX file says besides what it computes: documentation, metadata, and names that the
// graph does not have. An import keeps it in the sources of the graph and of its nodes
// (ir::Graph::source, ir::Node::source), and an export writes it again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/tree.hpp"
#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// "/block/block.0/" for the module at "block.0", as PyTorch's older exporter writes it.
std::string scope_prefix(std::string_view path);

/// {"name", "doc", "metadata"} of the node of a file that became `of`; null if it has nothing that
/// an export of `of` would not write without it.
Tree source_of(const Node& node, const ir::Node& of);
/// {"doc", "metadata", "domain", "version", "graph_doc", "graph_metadata", "values"} of a model;
/// "values" has {"doc", "metadata", "symbols"} of inputs and outputs by their names. Null if all is
/// empty.
Tree source_of(const Model& model);
/// Remembers that the only output of a graph has another name than the node that gives it.
void name_output(Tree& source, const std::string& name);

/// Writes what is known of a node; `name` is given to it if that is not "".
void set_source(const Tree& source, Node& node);
/// Writes what is known of a model, and of its inputs and outputs, which are there already.
void set_source(const Tree& source, Model& model);
/// The name that a node has in its file; "" if that is not known.
std::string name_in_file(const Tree& source);
/// The names of the symbols of an input's dimensions, "" for others; empty if nothing is known.
std::vector<std::string> symbols_of(const Tree& source, const std::string& input);

/// An output, and its name where that does not follow from the node that gives it: the name of the
/// only output, and those of the entries of a dict.
struct NamedOutput {
  ir::NodeId node;
  std::string name;  ///< "" where the node's name is meant
};
std::vector<NamedOutput> outputs_of(const ir::Graph& graph);

}  // namespace mase::onnx
