// SPDX-License-Identifier: Apache-2.0
// Importer: the state of one import. Nodes of the program become nodes of the graph in their order;
// those of a layer of torch.nn, and those of a subscript, become one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.hpp"
#include "ir/inference.hpp"
#include "ir/op_schemas.hpp"
#include "pt2/import.hpp"

namespace mase::pt2 {

/// A call of an operator. Arguments are those of its signature in their order, without those that
/// the program leaves out; tensors that no node reads yet are in `paths`.
struct Call {
  std::string op;  ///< "aten::conv2d"
  const ir::OpSchema* schema = nullptr;
  std::vector<ir::Argument> args;
  const Node* node = nullptr;
};

/// Nodes of the program from `begin` to before `end`.
struct Range {
  std::size_t begin = 0, end = 0;
};

class Importer {
 public:
  Importer(const Program& program, const ImportOptions& options);
  Imported import();

 private:
  /// What a name of the program stands for: a value of the graph, or a tensor that becomes one when
  /// a node reads it.
  struct Slot {
    ir::Value value;
    std::string path;
  };
  /// Results of nodes that the graph has so far.
  struct Known : ir::KnownResults {
    const ir::Graph* graph = nullptr;
    std::unordered_map<ir::NodeId, std::int64_t> integers;
    const ir::ValueInfo& info(ir::NodeId id) const override { return graph->node(id).info; }
    std::optional<std::int64_t> integer(ir::NodeId id) const override {
      const auto found = integers.find(id);
      return found == integers.end() ? std::nullopt : std::optional(found->second);
    }
  };

  // Inputs and outputs (inputs.cpp).
  void add_inputs();
  void add_input(const InputSpec& input);
  void add_tensors();
  void add_output();
  ir::Value nested(const Tree& spec, std::vector<ir::Value>& leaves) const;
  void name_containers();

  // Names and arguments (arguments.cpp).
  void define(const std::string& name, Slot slot);
  const Slot& slot(const std::string& name) const;
  /// The value of an argument; tensors that no node reads yet are texts that begin with '@'.
  ir::Value argument(const Tree& value, const ir::SchemaArgument* formal);
  ir::Value named(const Tree& entry) const;
  /// Replaces tensors that no node reads yet by nodes that read them.
  void read_tensors(ir::Value& value);
  ir::NodeId attribute(const std::string& path);
  Call call_of(const Node& node);

  // Nodes (nodes.cpp).
  void import_range(Range range, std::size_t level);
  void import_node(const Node& node);
  bool import_subscript(Range range);
  ir::NodeId add(ir::Node node, const Node& source);
  void add_call(Call call);
  void bind_results(const Node& node, ir::NodeId id);
  /// Whether nothing but an assertion about sizes is in a node.
  bool is_assertion(const Node& node) const;
  bool is_used_outside(Range range, const std::string& name) const;
  bool is_dead(const Node& node) const;
  [[noreturn]] void refuse(const Node& node, const std::string& reason) const;

  // Layers (layers.cpp).
  bool import_layer(Range range, const ModuleCall& module);
  bool add_layer(Call call, const ModuleCall& module);
  bool register_module(const ir::Module& module);

  const Program& program_;
  const ImportOptions& options_;
  Imported imported_;
  ir::Graph& graph_;
  Known known_;
  std::unordered_map<std::string, Slot> slots_;
  std::unordered_map<std::string, std::vector<std::size_t>> uses_;  ///< nodes by what they read
  std::unordered_map<std::string, ir::NodeId> attributes_;          ///< get_attr nodes, by path
};

/// The names that a union refers to, in order.
std::vector<std::string> names_in(const Tree& value);
/// The operator of a node's target, "aten::conv2d" for "torch.ops.aten.conv2d.default"; "" for a
/// target that is none.
std::string operator_of(std::string_view target);
/// How torch.fx writes the call of an operator that was recorded in such a Python function.
struct Spelling {
  ir::NodeKind kind = ir::NodeKind::call_function;
  std::string target;
};
Spelling spelling_of(std::string_view op, const Node& node);

}  // namespace mase::pt2
