// SPDX-License-Identifier: Apache-2.0
// Importer: the state of one import. Nodes of the ONNX graph are imported in their order by the
// rows of rows.hpp, which see them as a Call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/format.hpp"
#include "ir/graph.hpp"
#include "onnx/import.hpp"
#include "onnx/import/operand.hpp"
#include "onnx/import/restore.hpp"
#include "onnx/import/scopes.hpp"
#include "onnx/import/worlds.hpp"

namespace mase::onnx {

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options);
  Imported import();

  ir::Graph& graph() { return imported_.graph; }
  Worlds& worlds() { return worlds_; }
  const std::string& path() const { return options_.path; }
  std::int64_t opset(const std::string& domain) const;
  void note(std::string text) { imported_.notes.push_back(std::move(text)); }

  void define(const std::string& name, Operand operand);
  /// How many inputs of nodes, and outputs of the graph, have this name.
  int uses(const std::string& name) const;

  /// What a name stands for; nullptr when nothing has been given it.
  Operand* find(std::string_view name);
  /// The node of an operand; a constant gets one that reads a tensor of the graph. `what` names it.
  ir::NodeId node_of(Operand& operand, const std::string& what);
  /// Puts a constant into the graph's tensors, at `wanted` or near it; returns its path.
  const std::string& store(Constant& constant, std::string_view wanted);
  /// Adds a node (before `before` when given), and infers its result.
  ir::NodeId add(ir::Node node, ir::NodeId before = ir::no_node);

  /// Remembers what the file says of a node besides what it computes, at the node that it became.
  void keep_source(const Node& node, ir::NodeId id);

  const Scopes& scopes() const { return scopes_; }
  /// Imports nodes in their order. Those of a body that is known to run, or of a function, come in
  /// the place of their node.
  void import_nodes(const std::vector<Node>& nodes);
  /// Imports the tensors and nodes of an inner graph in the place of its node.
  void import_body(const onnx::Graph& body);
  /// A prefix that no name has yet, for the names of a body that is imported once more.
  std::string new_prefix() { return "@" + std::to_string(++copies_) + "/"; }
  /// Counts the names that the nodes of a graph read.
  void count_uses(const Graph& graph);
  /// The body of the model's own operator; nullptr if it has none of this name.
  const Function* find_function(const Node& node) const;
  /// Imports the body of a function in the place of its call.
  void import_function(const Function& function, const Node& call);

 private:
  /// A tensor of sizes that the graph computes.
  ir::NodeId tensor_of(const HostTensor& sizes);
  void add_initializers(const std::vector<Tensor>& tensors);
  void add_inputs();
  void add_input(const ValueInfo& input, const Array* example);
  void add_output();
  /// Lets the batch vary if an example has another one than the file.
  void vary_batch();
  void import_node(const Node& node);
  /// The node that has the first result of an imported node, if it is newer than `before`.
  ir::NodeId node_from(const Node& node, ir::NodeId before);
  void check_inputs(const Node& node) const;
  void check_dtype(DType dtype, const std::string& what) const;
  void name_containers();
  /// Has those tensors copied on their first use that cannot be read from the file where they lie.
  void align_tensors();

  const Model& model_;
  const ImportOptions& options_;
  Imported imported_;
  Worlds worlds_;
  Scopes scopes_;
  Restorer restorer_;
  std::unordered_map<std::string, Operand> operands_;
  std::unordered_map<std::string, int> uses_;
  std::map<std::string, std::vector<formats::Format>> formats_;  ///< of quantized tensors, by path
  std::map<std::string, std::int64_t> symbols_;                  ///< sizes of the file's symbols
  std::unordered_map<std::string, std::string> producers_;       ///< result → node, for messages
  std::vector<const std::map<std::string, std::int64_t>*> opsets_;  ///< innermost function last
  std::vector<ir::NodeId> other_batch_;     ///< inputs whose example has another batch
  std::map<ir::NodeId, std::string> made_;  ///< the file's node by the last node that it became
  ir::NodeId newest_ = ir::no_node;         ///< the node that was added last
  int copies_ = 0;                          ///< copies of bodies so far
};

}  // namespace mase::onnx
