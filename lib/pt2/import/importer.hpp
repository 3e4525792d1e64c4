// SPDX-License-Identifier: Apache-2.0
// Importer: the state of one import. Nodes of the program become nodes of the graph in their order;
// those of a layer of torch.nn, and those of a subscript, become one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

  const ir::Value* find(std::string_view name) const;  ///< nullptr for an argument that is left out
};

/// Nodes of the program from `begin` to before `end`.
struct Range {
  std::size_t begin = 0, end = 0;
};

/// A linear layer as decompositions write it: data @ weight.t() + bias, in which the data and the
/// result may be seen as matrices.
struct LinearParts {
  const Node *transpose = nullptr, *product = nullptr;
  const Node *before = nullptr, *after = nullptr;  ///< the views; null if there are none
  bool has_bias = false;
  std::string data() const;  ///< its name
};
std::optional<LinearParts> linear_parts(const std::vector<const Node*>& nodes);

class Importer {
 public:
  /// `kept`: tensors that become inputs and results, by path.
  Importer(const Program& program, const ImportOptions& options, const std::set<std::string>& kept);
  Imported import();
  /// Other tensors that must be kept, too, because the model changes and reads them. If there are
  /// any, the import ended without a graph.
  const std::set<std::string>& unsettled() const { return unsettled_; }

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
  void add_tensor(const InputSpec& input);
  void add_placeholder(const std::string& name, const ir::ValueInfo& info);
  void vary_batch();
  void check_conditions();
  void add_output();
  ir::Value nested(const Tree& spec, std::vector<ir::Value>& leaves) const;
  void name_containers();

  // Names and arguments (arguments.cpp).
  void define(const std::string& name, Slot slot);
  const Slot& slot(const std::string& name) const;
  /// What a name stands for after all changes of the memory that it shares.
  const Slot& current(const std::string& name);
  /// The value of an argument; tensors that no node reads yet are texts that begin with '@'.
  ir::Value argument(const Tree& value, const ir::SchemaArgument* formal);
  ir::Value named(const Tree& entry);
  /// Replaces tensors that no node reads yet by nodes that read them.
  void read_tensors(ir::Value& value);
  ir::NodeId attribute(const std::string& path);
  /// Whether nothing reads the results of a node after its first one.
  bool uses_only_first(const Node& node) const;
  /// The call that a node is. Arguments before `first` are left out.
  Call call_of(const Node& node, std::size_t first = 0);
  /// Arithmetic on sizes computes with floats if one of its operands is one.
  void use_operator_on_floats(Call& call) const;

  // Nodes (nodes.cpp).
  void import_range(Range range, std::size_t level);
  void import_node(const Node& node);
  /// Imports what decompositions wrote of one call of a function; false if it is not known.
  bool import_function(Range range);
  /// Runs a part of the import; its errors name the node, its layer and its line of Python.
  void with_place(const Node& node, const std::function<void()>& import) const;
  bool import_subscript(Range range);
  ir::NodeId add(ir::Node node, const Node& source);
  void add_call(Call call);
  /// Adds the node of a call as torch.fx writes it.
  ir::NodeId add_node(Call call);
  /// Makes tensors of numbers where the operator takes only tensors: sub(1, x).
  void wrap_numbers(Call& call);
  /// The result of a node as the program describes it; nullopt where inputs have other sizes.
  std::optional<ir::ValueInfo> stated_info(const Node& source) const;
  /// Whether a result has a size that the program cannot know without values.
  bool has_size_of_values(const Node& source) const;
  void bind_results(const Node& node, ir::NodeId id);
  /// Whether nothing but an assertion about sizes is in a node.
  bool is_assertion(const Node& node) const;
  bool is_used_outside(Range range, const std::string& name) const;
  [[noreturn]] void refuse(const Node& node, const std::string& reason) const;

  // Memory (memory.cpp).
  /// A tensor that shares the memory of another one, and the node that took it from it.
  struct View {
    std::string base;
    const Node* node = nullptr;
  };
  /// The name that stands for the memory of this one: operators in place return their input.
  const std::string& memory_of(const std::string& name) const;
  /// Whether a result of the call is its input, or a view of it.
  bool shares_memory(const Call& call, const std::string& from, const std::string& result) const;
  /// Remembers which memory the results of a call share.
  void note_memory(const Call& call);
  void note_view(const std::string& name, const std::string& base, const Node& node);
  /// The memory has new values. What it was taken from follows, and names that share it are
  /// computed again when they are read.
  void change_memory(const std::string& name, ir::NodeId value, const Node& node);
  void mark_views(const std::string& base);
  /// The tensor that a view was taken from, when the view has other values.
  ir::NodeId undone(const View& view, ir::NodeId value, const Node& node);
  void refresh(const std::string& name);
  bool is_contiguous(const std::string& name) const;
  static bool changes_memory(const Call& call);
  /// Whether a tensor is copied onto itself, as `self.count += 1` does; its results are that
  /// tensor.
  bool copies_itself(const Call& call);
  /// Makes a call in place one that makes a new tensor; returns the memory that it changes.
  std::string take_out_of_place(Call& call);
  void bind_in_place(const Node& node, const std::string& memory, ir::NodeId id,
                     const ir::ValueInfo& before);

  // What the model keeps from run to run (state.cpp).
  /// An input of the graph that stands for a tensor of the model.
  struct Kept {
    std::string name;  ///< of the tensor in the program
    ir::NodeId input = ir::no_node;
    ir::Value next;  ///< what the model keeps for the next run
  };
  /// Whether the node changes a tensor of the model that is not kept. The graph leaves this out.
  bool is_state(const Node& node);
  void add_state();
  /// The state that the results depend on, by path, when every run has its state from the last one.
  std::set<std::string> needed_state(const ir::Value& result) const;
  /// The results, and behind them those of the state that they depend on, by name.
  ir::Value with_state(const ir::Value& result);
  /// What the state begins with, and what is to be said about it.
  void finish_state();
  void find_unsettled();

  // Layers (layers.cpp).
  /// Imports the nodes of a layer as one; false, and nothing is done, if they are not one.
  bool import_layer(Range range, const ModuleCall& module);
  /// Whether the graph has everything that a node reads.
  bool has_inputs(const Node& node) const;
  bool import_layer_of(const std::vector<const Node*>& nodes, const ModuleCall& module);
  /// The call of aten::linear that decompositions wrote as transpose, views and addmm.
  std::optional<Call> linear_call(const std::vector<const Node*>& nodes);
  /// That of aten::linear that they wrote as bmm, and that of an activation (decompositions.cpp).
  std::optional<Call> batched_linear_call(const std::vector<const Node*>& nodes);
  std::optional<Call> activation_call(const std::vector<const Node*>& nodes);
  /// The value of a name, as an argument has it.
  ir::Value value_of(const std::string& name);
  /// The sizes that the program says; none for a name without.
  std::vector<SymInt> sizes_of(const std::string& name) const;
  bool is_tensor_of_model(const std::string& name) const;
  /// Whether a node is the transpose of a matrix of the model.
  bool is_transpose(const Node& node) const;
  /// Whether the transpose is one of a tensor, and the views restore all dimensions but the last.
  bool are_for_each_other(const LinearParts& parts) const;
  /// Whether a node outside of these reads a result of one that is not the last.
  bool is_read_elsewhere(const std::vector<const Node*>& nodes) const;
  bool add_layer(Call call, const ModuleCall& module);
  /// Imports the nodes of a recurrent layer or cell (recurrent.cpp); false if they are not one.
  bool import_recurrent(const std::vector<const Node*>& nodes, const ModuleCall& module);
  /// Binds the results of ATen's operator to the parts of what the layer returns.
  void bind_recurrent(const Node& node, ir::NodeId id);
  /// Whether a tensor has a name in the module.
  bool belongs_to(const std::string& path, const ModuleCall& module) const;
  bool register_module(const ir::Module& module);

  const Program& program_;
  const ImportOptions& options_;
  Imported imported_;
  ir::Graph& graph_;
  Known known_;
  std::vector<ir::NodeId> other_batch_;  ///< inputs whose example has another batch
  bool exported_sizes_ = true;           ///< whether all inputs have the sizes of the export
  std::unordered_map<std::string, Slot> slots_;
  std::unordered_map<std::string, std::vector<std::size_t>> uses_;  ///< nodes by what they read
  std::unordered_map<std::string, int> recorded_;  ///< nodes by the call of a Python function
  std::set<const Node*> early_sizes_;              ///< nodes that were imported before their turn
  std::unordered_map<std::string, ir::NodeId> attributes_;  ///< get_attr nodes, by path
  std::unordered_map<std::string, std::string> same_memory_;
  std::unordered_map<std::string, View> views_;
  std::unordered_map<std::string, std::vector<std::string>> views_of_;  ///< by the base
  std::set<std::string> stale_;            ///< names whose slot is from before a change
  std::set<std::string> state_;            ///< names of tensors of the model
  std::set<std::string> changed_tensors_;  ///< tensors of the model that it changes, by path
  std::set<std::string> read_again_;       ///< those that it reads after that
  std::set<std::string> unsettled_;
  const std::set<std::string>& kept_paths_;
  std::map<std::string, Kept> kept_;  ///< by path
};

/// The names that a union refers to, in order.
std::vector<std::string> names_in(const Tree& value);
/// The name that an argument refers to; "" if there is none, or several.
std::string input_of(const Node& node, std::string_view name);
/// The name of the first result.
std::string output_of(const Node& node);
/// The operator of a node's target, "aten::conv2d" for "torch.ops.aten.conv2d.default"; "" for a
/// target that is none.
std::string operator_of(std::string_view target);
/// Whether a node of this target computes with sizes on the host, and its operator where one of the
/// operands is a float; "" if there is none.
bool is_size_operator(std::string_view target);
std::string operator_on_floats(std::string_view target);
/// How torch.fx writes the call of an operator that was recorded in such a Python function. `alone`
/// says that the function made no other call: F.interpolate is one of an operator for its mode.
struct Spelling {
  ir::NodeKind kind = ir::NodeKind::call_function;
  std::string target;
};
Spelling spelling_of(std::string_view op, const Node& node, bool alone);

}  // namespace mase::pt2
