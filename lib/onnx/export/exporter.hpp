// SPDX-License-Identifier: Apache-2.0
// Exporter: the state of one export.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph.hpp"
#include "ir/masks.hpp"
#include "onnx/export.hpp"
#include "onnx/export/dialects.hpp"
#include "onnx/export/node_writer.hpp"
#include "onnx/export/symbols.hpp"
#include "onnx/source.hpp"
#include "onnx/stored_graph.hpp"

namespace mase::onnx {

class Exporter {
 public:
  Exporter(const ir::Graph& graph, const ExportOptions& options, bool batch_alone);
  Model run();

  const ir::Graph& graph() const { return graph_; }
  const Symbols& symbols() const { return symbols_; }
  std::int64_t opset() const { return options_.opset; }
  const Dialect* dialect() const { return dialect_; }  ///< nullptr: formats are left out
  const ir::Masks& masks() const { return masks_; }
  /// Notes that the format of a port ("fc.weight") is not in the model.
  void lose(const std::string& port, const formats::Format& format, const std::string& reason);
  ExportNotes notes() const;

  /// The values of a node's result: one, or those of a list.
  const Names& values(ir::NodeId id) const;
  void define(ir::NodeId id, Names values) { values_[id] = std::move(values); }
  /// The initializer of a tensor of the graph.
  std::string initializer(const std::string& path);
  /// An initializer with this value; equal ones share one.
  std::string constant(Array array, ElementType type);
  /// An initializer beside those of the tensors; the same one for the same name and values.
  std::string initializer(const std::string& name, ElementType type, Array array);
  /// Adds a node that belongs to a node of the graph.
  void add(const ir::Node& from, std::string_view op, const Names& inputs, const Names& outputs,
           Attributes attributes, std::string_view domain = "");
  /// The node that gives a value; nullptr for inputs and initializers.
  const Node* writer_of(const std::string& value) const;
  /// A name that no value has: `wanted`, or the same with a number.
  std::string unique(const std::string& wanted);

 private:
  void add_inputs();
  void add_tensors();
  void add_nodes();
  void add_node(const ir::Node& node);
  void describe(const ir::Node& node);
  void mark_nodes();
  void remove_unread_tensors();
  void name_outputs();
  void add_outputs();
  void add_output(const NamedOutput& output);
  ValueInfo value_info(const std::string& name, ir::NodeId id) const;
  void name_scope(const ir::Node& from, Node& node);

  const ir::Graph& graph_;
  const ExportOptions& options_;
  Symbols symbols_;
  const Dialect* dialect_;
  ir::Masks masks_;
  Model model_;
  std::map<ir::NodeId, Names> values_;
  std::set<std::string> names_, node_names_;
  Constants constants_;
  std::map<std::string, std::string> constant_names_;  ///< by content
  std::map<std::string, std::string> initializer_names_;
  /// Nodes of the model that say one node of the graph, from `first` to before `end`.
  struct Run {
    std::string name;
    std::size_t first, end;
  };
  std::vector<Run> runs_;
  std::vector<NamedOutput> outputs_;                      ///< with names that are kept for them
  std::unordered_map<std::string, std::size_t> writers_;  ///< nodes of the model by their results
  Names losses_;
  std::map<std::string, int> counts_;  ///< of names with numbers, by stem
};

}  // namespace mase::onnx
