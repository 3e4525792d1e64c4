// SPDX-License-Identifier: Apache-2.0
// Exporter: the state of one export. It writes the JSON of the program node by node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tree.hpp"
#include "ir/graph.hpp"
#include "ir/op_schemas.hpp"
#include "pt2/export.hpp"
#include "pt2/export/expand.hpp"
#include "pt2/export/sizes.hpp"

namespace mase::pt2 {

/// What a node of the graph is in the program: a tensor or a size with a name there, a constant, or
/// several of these.
struct Result {
  enum class Kind { constant, tensor, size, items };
  Kind kind = Kind::constant;
  std::string name;
  ir::Value constant;
  std::vector<Result> items;
  std::vector<std::string> keys;  ///< of a dict

  static Result of(Kind kind, std::string name) { return {kind, std::move(name), {}, {}, {}}; }
  static Result of(ir::Value constant) { return {Kind::constant, "", std::move(constant), {}, {}}; }
};

class Exporter {
 public:
  explicit Exporter(const ir::Graph& graph);
  /// The entry models/model.json.
  Tree run();
  /// The sizes of inputs that may vary.
  std::vector<FreeSize> free_sizes() const;
  std::size_t nodes() const { return nodes_.size(); }
  const Expanded& expanded() const { return expanded_; }

 private:
  // Inputs, outputs and the document (exporter.cpp).
  void add_tensors();
  void add_tensor(const std::string& path, const std::string& name);
  void add_inputs();
  void add_nodes();
  void add_outputs();
  void add_output(const Result& result);
  Tree document() const;
  Tree call_graph() const;

  // Nodes (nodes.cpp).
  void add_node(const ir::Node& node);
  void add_operator(const ir::Node& node);
  void add_size(const ir::Node& node);
  Result add_result(const ir::Node& node, const ir::SchemaPart& part,
                    std::vector<std::size_t> place, Tree::List& outputs);
  void add(const ir::Node& node, std::string target, Tree::List inputs, Tree::List outputs);
  Result item_of(const ir::Node& node);

  // Where nodes come from (metadata.cpp).
  struct Scope {
    std::string modules, function;  ///< nn_module_stack and torch_fn
  };
  void find_containers();
  std::string class_of(const std::string& path) const;
  std::string module_entry(const std::string& path, const std::string& class_name);
  std::string module_stack(const ir::Node& step, const ir::Node& node);
  Tree metadata(const ir::Node& step);

  // Arguments (arguments.cpp).
  Tree::List inputs_of(const ir::Node& node, const ir::OpSchema& schema);
  Tree argument(const ir::Value& value, const ir::SchemaArgument& formal);
  Tree list_argument(const ir::Value& value, const ir::SchemaArgument& formal);
  Result result(const ir::Value& value) const;

  std::string unique(const std::string& wanted);

  const Expanded expanded_;
  const ir::Graph& graph_;
  const Sizes sizes_;
  std::set<std::string> names_;
  std::map<std::string, std::string> tensor_names_;  ///< by path
  std::map<ir::NodeId, Result> results_;
  std::map<std::string, int> calls_;                       ///< of modules and functions, by name
  std::map<ir::NodeId, std::string> containers_;           ///< the modules in which nodes are
  std::map<ir::NodeId, Scope> scopes_;                     ///< by the node that steps come from
  std::vector<std::pair<std::string, std::string>> open_;  ///< modules: path and entry of the stack
  Tree::List nodes_, inputs_, input_specs_, outputs_, output_specs_;
  Tree tensor_values_ = Tree::dict(), size_values_ = Tree::dict();
  Tree in_tree_, out_tree_;
  std::vector<std::string> argument_names_;
};

/// How an operator takes an argument; the numbers are those of the schema.
enum class ArgumentKind { positional = 1, keyword = 2 };
Tree input_tree(std::string_view name, Tree value, ArgumentKind kind = ArgumentKind::positional);
/// {kind: value}, a union of the schema.
Tree union_tree(std::string_view kind, Tree value);
/// {"name": name}
Tree name_tree(const std::string& name);

}  // namespace mase::pt2
