// SPDX-License-Identifier: Apache-2.0
// Graph: a model as a flat dataflow graph with the nodes and names of torch.fx and the layers of
// torch.nn as leaves. It does not need LibTorch; a copy is cheap because tensors are shared.
//
// Every computing node names the ATen operator that it runs, and gives its arguments the operator's
// own argument names, so a graph says by itself what it computes. A module node takes its other
// arguments (tensors and constants) from its Module.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/tree.hpp"
#include "formats/format.hpp"
#include "ir/value.hpp"

namespace mase::ir {

enum class NodeKind { placeholder, get_attr, call_function, call_method, call_module, output };
std::string_view kind_name(NodeKind kind);

/// An operator's argument: a constant, or references to the results of other nodes.
struct Argument {
  std::string name;  ///< the operator's argument name: "input", "self", "dim", ...
  Value value;
  bool operator==(const Argument&) const = default;
};

/// Metadata in the schema of the reference system; each part is null until its pass has run.
struct Metadata {
  Tree common, software, hardware;
  bool operator==(const Metadata&) const = default;
};

class Graph;
struct CustomOp;                                                           // ir/custom_op.hpp
using CustomOps = std::map<std::string, std::shared_ptr<const CustomOp>>;  ///< by name

/// A node of a graph: a computation, an input, a tensor or the output.
struct Node {
  NodeId id = no_node;
  std::string name;  ///< unique, [A-Za-z0-9_]+
  NodeKind kind = NodeKind::placeholder;
  /// placeholder: input name; get_attr: tensor path; call_function: as torch.fx writes it
  /// ("torch.nn.functional.relu", "_operator.add"); call_method: method; call_module: module path.
  std::string target;
  /// The operator, "aten::add.Tensor" (overload after the dot, if any), or "mase::getitem" for
  /// Python indexing and "mase::identity". Empty for placeholder, get_attr and output; a module
  /// node has the operator of its Module.
  std::string op;
  /// call_function and call_method: every argument of the operator that differs from its default;
  /// call_module: the data inputs only; output: one argument "value".
  std::vector<Argument> args;
  /// The graph that an opaque leaf ("mase::leaf", or "mase::leaf.NAME" for a custom op) runs. Its
  /// placeholders take the nodes in `args`, in order; its tensors are those of the graph around the
  /// leaf. Null for every other node.
  std::shared_ptr<const Graph> body;
  ValueInfo info;
  /// Formats by port ("data_in", "weight", "bias", "data_out", ...), written by quantize only.
  std::map<std::string, formats::Format> formats;
  Metadata meta;
  /// What the file of the model says of this node besides what it computes, as its reader stores it
  /// (its name there, its documentation) for whoever writes such a file. Null if nothing.
  Tree source;

  const Value* find(std::string_view argument) const;
  Value* find(std::string_view argument);
};

/// A leaf layer: the operator that a call_module node runs, and its arguments besides the inputs.
struct Module {
  std::string path;        ///< "seq_blocks.0"
  std::string class_name;  ///< "torch.nn.modules.batchnorm.BatchNorm1d"
  std::string op;          ///< "aten::batch_norm"
  /// Constant arguments of the operator by name (momentum, eps, stride, training=$training ...).
  std::vector<Argument> attributes;
  /// Tensor arguments: operator argument name → tensor path; absent optional tensors are left out.
  std::vector<std::pair<std::string, std::string>> tensors;

  const Value* attribute(std::string_view name) const;
  const std::string* tensor(std::string_view argument) const;
  std::string_view short_class() const;  ///< "BatchNorm1d"
};

/// A tensor as codes, in the one format through which all its readers read it.
struct CodedTensor {
  formats::Format format;
  formats::Encoded encoded;
};

/// A parameter or buffer of the model.
struct Tensor {
  Array value;
  bool is_parameter = false;  ///< parameter or buffer
  bool requires_grad = false;
  /// The codes that a checkpoint stores in place of `value`, which is then the value of the codes.
  /// Set only on the way to a file (checkpoint::with_codes_alone).
  std::shared_ptr<const CodedTensor> coded = nullptr;
  /// The other paths of a tied tensor: the source has this same tensor under each of them. Nodes
  /// and modules use the path at which the graph holds it; an export writes it under all paths.
  std::vector<std::string> other_names = {};
  /// The input that begins with this value where none is given: what the source keeps from run to
  /// run is an input and a result of the graph. Empty for tensors that nodes read.
  std::string begins = {};
};

/// Stands in a guard for a condition that is too long to be kept: it may depend on any size.
inline constexpr std::string_view long_expression = "(a long expression)";

/// A condition on input shapes that the import relied on; it is checked when other shapes run.
struct Guard {
  std::string place;      ///< TorchScript file:line
  std::string condition;  ///< readable text
  bool operator==(const Guard&) const = default;
};

/// Nodes in execution order, and the modules and tensors that they name.
class Graph {
 public:
  std::string name = "graph";

  // Nodes. References stay valid until the next add.
  const std::vector<NodeId>& order() const { return order_; }
  bool contains(NodeId id) const;  ///< whether the node is live
  const Node& node(NodeId id) const;
  Node& node(NodeId id);
  const Node* find_node(std::string_view name) const;
  /// The message to the user about a name that no node has.
  std::string unknown_node(std::string_view name) const;
  std::vector<NodeId> placeholders() const;
  NodeId output() const;  ///< no_node when there is none yet

  /// Appends a node (before `before` when given). Its name is made unique as torch.fx does it:
  /// characters outside [A-Za-z0-9_] become `_`, a taken name (or a word of Python, as "input")
  /// gets `_1`, `_2`, ... An empty name asks for torch.fx's name of the target.
  NodeId add(Node node, NodeId before = no_node);
  /// Every use of `from`, but those in `to` itself, refers to `to` afterwards.
  void replace_uses(NodeId from, NodeId to);
  /// Removes a node without uses (internal error otherwise).
  void erase(NodeId id);
  std::vector<NodeId> users(NodeId id) const;   ///< in order, each once
  std::vector<NodeId> inputs(NodeId id) const;  ///< in argument order, each once
  /// Removes nodes whose result nobody uses (never placeholders or the output); returns how many.
  int remove_dead_nodes();

  std::map<std::string, Module> modules;  ///< by path
  std::map<std::string, Tensor> tensors;  ///< by path ("seq_blocks.0.weight"), state_dict keys
  /// The order of tensors in the source's state_dict.
  std::vector<std::string> tensor_order;
  /// Module containers of the source (path → class name), so that a checkpoint has the same tree.
  std::map<std::string, std::string> containers;
  std::vector<Guard> guards;
  CustomOps custom_ops;
  /// Passes that made this graph: list of {"pass": name, "options": {...}}.
  Tree history = Tree::list();
  /// What the file of the model says of the whole besides what it computes (Node::source).
  Tree source;

  const Module& module_of(const Node& node) const;  ///< of a call_module node
  /// The value of an argument: the node's own, or a constant of its layer; nullptr when the
  /// operator's default holds.
  const Value* argument(const Node& node, std::string_view name) const;
  /// The path of the tensor that an argument holds: one of the node's layer, or one that a get_attr
  /// node reads; nullptr for any other argument.
  const std::string* tensor_of(const Node& node, std::string_view argument) const;
  /// The path at which the graph holds the tensor with this name, which may be one of its other
  /// names; nullptr when no tensor has it.
  const std::string* tensor_named(const std::string& name) const;
  /// Adds or replaces a tensor, keeping tensor_order.
  void set_tensor(const std::string& path, Tensor tensor);

 private:
  std::string unique_name(std::string_view wanted);
  void free_name(const std::string& name);
  std::vector<Node> nodes_;    ///< by id
  std::vector<NodeId> order_;  ///< live nodes in execution order
  std::map<std::string, NodeId, std::less<>> by_name_;
  /// N for every base of names: base_1 to base_N are taken, which keeps the search for a free name
  /// short.
  std::map<std::string, std::int64_t> taken_;
};

/// All paths of a tensor; the one at which the graph holds it comes first.
std::vector<std::string> names_of(const std::string& path, const Tensor& tensor);
/// The name of a tensor within the module at `owner`, without the path; nullopt when the tensor has
/// no name in that module.
std::optional<std::string> name_in_module(const Graph& graph, const std::string& path,
                                          std::string_view owner);

/// `seq_blocks.2` → `seq_blocks_2`, `bert.LayerNorm` → `bert_layer_norm` (torch.fx's snake case).
std::string node_name_of(std::string_view path);

/// The stem of the tensors that a checkpoint stores for a coded one: STEM_codes, STEM_shared and
/// STEM_scales. It is the path, followed by as many '_' as make these names unique.
std::string code_stem(const Graph& graph, const std::string& path);

/// Removes tensors and modules that no node uses any more.
void remove_unused_tensors(Graph& graph);

}  // namespace mase::ir
