// SPDX-License-Identifier: Apache-2.0
// Importer evaluates the un-inlined TorchScript program partially. Values that do not depend on the
// input are constants, calls of layers and functions become nodes, and loops are unrolled.
#pragma once

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/backend.hpp"
#include "ir/custom_op.hpp"
#include "torch/import/builder.hpp"
#include "torch/import/index.hpp"
#include "torch/import/state.hpp"
#include "torch/import/value.hpp"

namespace mase::libtorch {

namespace jit = torch::jit;

/// The abstract values of a function call's variables.
using Environment = std::unordered_map<const jit::Value*, Ref>;

/// The place of a node in the original Python source, with its text.
SourceText source_of(const jit::Node* node);
/// The places of a node in the Python file and in the archive's code, for errors.
std::string places_of(const jit::Node* node);

/// Limits, so that no file keeps the importer busy for ever or takes all memory: the depth of
/// calls, and the evaluated nodes per operator that ImportOptions::most_operators allows.
inline constexpr std::int64_t import_steps_per_operator = 5;
inline constexpr int import_depth_limit = 200;

/// Runs the TorchScript of a module on the example inputs and records what it computes as a graph.
class Importer {
 public:
  /// `converted` is the type whose tensors were converted to float32; code that names it is too.
  Importer(ir::Graph& graph, const backend::ImportOptions& options,
           std::optional<at::ScalarType> converted = std::nullopt)
      : builder_(graph), graph_(graph), options_(options), converted_(converted) {
    builder_.set_origins(options.origins);
    for (const auto& [path, tensor] : graph.tensors)
      for (const std::string& name : tensor.other_names) first_names_.emplace(name, path);
  }

  /// Evaluates the module's forward and finishes the graph.
  void run(const jit::Module& module);

  /// The number to fill uninitialised tensors with, and the first place that makes such a tensor.
  void fill_with(double number) { fill_ = number; }
  const std::string& empty_at() const { return empty_at_; }

  // State (state.hpp): attributes of modules that a run changes.
  /// Sets the values of such attributes at the start of the run. Tensors become inputs.
  void begin_with(const State& state);
  State state_after() const;
  const c10::IValue& result() const { return result_; }  ///< result of forward on the example
  std::size_t used_inputs() const { return used_; }      ///< number of used example inputs
  static void require_all_used(std::size_t used, std::size_t given);
  bool state_is_given() const { return state_is_given_; }  ///< some, as example inputs
  /// The examples of the inputs for state, which follow the other inputs.
  const std::vector<Array>& kept_state() const { return kept_state_; }

 private:
  using Handler = void (Importer::*)(const jit::Node*, Environment&);

  // Inputs.
  static bool is_traced(jit::Graph& graph);
  static void require_tensor(const c10::Argument& argument);
  void require_precision(const std::string& argument, std::size_t input) const;
  /// Whether the next example input belongs to this argument.
  bool takes_input(const std::string& argument, std::size_t used) const;
  std::vector<Ref> forward_arguments(const jit::Function& forward, Ref self);
  static ir::Value value_of(const Tree& tree);

  // State.
  void take_state();
  /// The state on which the results depend, directly or through other state.
  std::set<std::string> needed_state(const Ref& result);
  /// The results by name, followed by the state for the next run.
  Ref with_state(const Ref& result, const std::set<std::string>& needed);
  void finish(const Ref& result);
  void set_state(const std::string& path, const Ref& value, const jit::Node* node);
  // Scopes of the builder. An abandoned scope also takes back its changes to the state.
  void open_scope();
  void abandon_scope();

  // Calls.
  Ref call_forward(const jit::Function& forward, const std::vector<Ref>& arguments);
  Ref call_function(const jit::Function& function, const std::vector<Ref>& arguments);
  void run_block(const jit::Block* block, Environment& environment);
  /// Counts a step of the evaluation at `node` and checks the limits.
  void take_step(const jit::Node* node);
  std::vector<Ref> inputs_of(const jit::Node* node, const Environment& environment);
  void call_method(const jit::Node* node, Environment& environment);
  bool may_be_leaf() const { return !in_body_ && !builder_.in_scope(); }
  bool is_leaf(const std::string& class_name) const;
  /// Adds the layer as one node. Returns null if it is not one operator.
  Ref call_leaf(const Ref& self, const jit::Function& method, const std::vector<Ref>& arguments);
  /// Calls the function in a new scope. Returns null, with no scope open, if a leaf chosen by the
  /// user needs a graph of its own instead of a scope.
  Ref call_in_scope(bool chosen, const jit::Function& function, const std::vector<Ref>& arguments);
  /// A tuple with a cell for each element, for a tuple that is the result of a node.
  Ref taken_apart(const Ref& value);
  /// Adds a recurrent layer or cell of torch.nn as one node; null if it does something else.
  Ref call_recurrent(const Ref& self, const jit::Function& method,
                     const std::vector<Ref>& arguments);
  /// Returns false if the path has other constants already; the layer is then inlined.
  bool register_module(const ir::Module& module);
  void call_free_function(const jit::Node* node, Environment& environment);
  bool is_leaf_function(const std::string& target) const;
  /// Error(Fault::config) for names of leaves that the model does not call.
  void check_leaves(const std::string& option, const std::vector<std::string>& wanted,
                    const std::set<std::string>& met) const;
  std::string not_called(const std::string& name, const std::set<std::string>& met) const;
  void check_custom_ops() const;
  /// The custom op of a class or function, or null.
  const ir::CustomOp* custom_op(std::string ir::CustomOp::*kind, const std::string& name) const;
  // Opaque leaves.
  /// An importer for a leaf's own graph, in which no layer or function is a leaf.
  Importer(ir::Graph& body, const Importer& outer);
  /// Adds a layer (`self` is its module) or function as one node with a graph of its own. It may
  /// be a custom op.
  Ref call_opaque(ir::Node leaf, const jit::Function& function, const std::vector<Ref>& arguments,
                  const ir::CustomOp* op);
  Ref call_opaque_module(const Ref& self, const jit::Function& method,
                         const std::vector<Ref>& arguments, const ir::CustomOp* op);
  Ref call_opaque_function(const std::string& target, const jit::Function& function,
                           const std::vector<Ref>& arguments, const ir::CustomOp* op);
  /// An argument as the body sees it: a placeholder, named by `names`, for every tensor and size in
  /// it. Constants stay constant, but those in a container with other values become inputs.
  Ref body_input(const Ref& outer, const std::vector<std::string>& names, std::vector<Ref>& inputs,
                 bool whole);
  /// Takes over guards, constants and names of called functions from the import of a body.
  void adopt(ir::Graph& body, const Importer& inner);
  Ref call_leaf_function(const std::string& target, const jit::Function& function,
                         const std::vector<Ref>& arguments);

  // Nodes.
  void run_node(const jit::Node* node, Environment& environment);
  void constant(const jit::Node* node, Environment& environment);
  void get_attribute(const jit::Node* node, Environment& environment);
  // Objects of classes that are not modules. Only their fields remain.
  void create_object(const jit::Node* node, Environment& environment);
  void get_field(const jit::Node* node, Environment& environment);
  void set_attribute(const jit::Node* node, Environment& environment);
  /// `with x as y` calls the methods __enter__ and __exit__.
  void enter(const jit::Node* node, Environment& environment);
  void leave(const jit::Node* node, Environment& environment);
  static const jit::Function& method_of(const Ref& self, const std::string& name,
                                        const jit::Node* node);
  /// A tensor of a module. Scripts read it where Python does; traces read all of them at the top.
  Ref attribute(const std::string& name, const c10::IValue& value);
  /// The attributes in a module's list of tensors, in which recurrent layers keep their weights.
  Ref attribute_list(const c10::IValue& tensors);

  // Control flow.
  bool decide(const Ref& condition, const jit::Node* node);
  void branch(const jit::Node* node, Environment& environment);
  void loop(const jit::Node* node, Environment& environment);
  void guard_trips(const Ref& trips, const jit::Node* node);
  /// Adds a guard to the graph, unless the graph has it.
  void add_guard(ir::Guard guard);
  /// Removes all guards except the first `count`.
  void keep_guards(std::size_t count);
  void raise(const jit::Node* node, Environment& environment);
  void refuse(const jit::Node* node, Environment&);
  void ignore(const jit::Node* node, Environment& environment);

  // Containers.
  void construct(const jit::Node* node, Environment& environment);
  void construct_dict(const jit::Node* node, Environment& environment);
  /// Element `position` of a container whose elements are known.
  Ref element(const Ref& container, std::int64_t position);
  void unpack(const jit::Node* node, Environment& environment);
  void index_container(const jit::Node* node, Environment& environment);
  static Ref& place_in(Cell& container, std::int64_t position);
  /// Turns a list or dict into one with a cell for every element, so that it can be changed.
  void open_container(const Ref& container);
  /// Refuses to change a container of the model, because the next run would see the change.
  static void refuse_own_container(const Ref& container, const jit::Node* node);
  /// A list with a cell for every element.
  Ref expanded(const Ref& list);
  Ref list_slice(const jit::Node* node, const std::vector<Ref>& inputs);
  void copy_list(const jit::Node* node, Environment& environment);
  void add(const jit::Node* node, Environment& environment);
  /// Whether lists or dicts have a method of this name.
  static bool is_container_method(const jit::Node* node);
  void container_method(const jit::Node* node, Environment& environment);
  /// Runs TorchScript's own method on values that are the same for every input.
  void change_constant(const jit::Node* node, Environment& environment,
                       const std::vector<Ref>& inputs);
  void set_item(const jit::Node* node, Environment& environment);
  void length(const jit::Node* node, Environment& environment);

  // Aliases, and properties of the example that hold for every input.
  void alias(const jit::Node* node, Environment& environment);
  void alias_of_size(const jit::Node* node, Environment& environment);
  /// A TorchScript operator that moves or converts a tensor to what it already is has no effect.
  void move_or_convert(const jit::Node* node, Environment& environment);
  void compare_none(const jit::Node* node, Environment& environment);
  /// Formats the text of a message, which the graph does not depend on.
  void format(const jit::Node* node, Environment& environment);
  /// Takes ranks, dtypes and devices from the example. They hold for every accepted input.
  void example_constant(const jit::Node* node, Environment& environment);
  /// Whether a value has one of the types that the node names.
  void is_instance(const jit::Node* node, Environment& environment);

  // Operators.
  c10::IValue run_jit(const jit::Node* node, const std::vector<Ref>& inputs) const;
  /// Refuses operators that are random, read from outside or are not on the list.
  static void require_allowed(const jit::Node* node);
  static void require_fixed(const jit::Node* node, const c10::FunctionSchema& schema,
                            const jit::Stack& arguments);
  void fold(const jit::Node* node, Environment& environment, const std::vector<Ref>& inputs);
  void store_outputs(const jit::Node* node, Environment& environment, const Ref& result);
  void apply_operator(const jit::Node* node, Environment& environment);
  /// Whether the node computes a truth value from sizes, which is a condition and not a node.
  static bool is_host_condition(const jit::Node* node, const std::vector<Ref>& inputs);
  /// Whether it reads a number from a tensor computed from sizes; this becomes a normal node.
  static bool reads_size(const jit::Node* node, const std::vector<Ref>& inputs);
  /// Whether it reads a number from a tensor that is not a size.
  static bool reads_tensor(const jit::Node* node, const std::vector<Ref>& inputs);
  Ref host_value(const jit::Node* node, const std::vector<Ref>& inputs) const;
  static std::string operator_name(const jit::Node* node);
  /// Replaces the type that was converted by float32 where an operator takes a type.
  Ref with_precision(const c10::Argument& argument, const Ref& cell) const;
  OpCall call_of(const jit::Node* node, const std::vector<Ref>& inputs) const;
  [[noreturn]] static void refuse_operator(const jit::Node* node);
  /// Makes one mase::softsign from the three operators of PyTorch. Returns true for each of them.
  bool fuse_softsign(const jit::Node* node, Environment& environment);
  /// torch.tensor of numbers and lists. If one of them is a size, scalars are stacked.
  void tensor_of(const jit::Node* node, Environment& environment);
  Ref stacked(const Ref& numbers, const std::vector<Ref>& dtype_and_device,
              const SourceText& source);
  /// An uninitialised tensor, filled with one number. The result must not depend on it (state.hpp).
  void empty(const jit::Node* node, Environment& environment);
  static bool equals_default(const c10::Argument& argument, const Cell& cell);

  // Python indexing.
  /// The slices, selections and new axes of a subscript become one getitem. They wait in `pending_`
  /// until an operator does not continue the same subscript.
  void index_tensor(const jit::Node* node, Environment& environment);
  /// Notes that a constant is part of another one, because a value written into it may not be one.
  void note_constant_view(const jit::Node* node, const std::vector<Ref>& inputs,
                          Environment& environment);
  /// x[0, 1] has one range of text for both selections, x[0][1] has two.
  static std::string subscript_place(const jit::Node* node);
  /// Whether the only use of the result continues the same subscript.
  static bool continues(const jit::Node* node, const Subscript& subscript);

  Builder builder_;
  ir::Graph& graph_;
  const backend::ImportOptions& options_;
  std::optional<at::ScalarType> converted_;
  std::map<std::string, Ref> attributes_;  ///< by the first name
  /// For the other names of tied tensors: the path at which the graph has the tensor.
  std::map<std::string, std::string> first_names_;
  std::unordered_map<const jit::Value*, Subscript> pending_;
  jit::Module root_{c10::QualifiedName("none")};
  std::unordered_set<std::string> guards_;     ///< guards of the graph, as text
  std::set<std::string> classes_, functions_;  ///< called modules' classes, called functions
  bool traced_ = false;
  bool in_body_ = false;  ///< whether in an opaque leaf
  std::int64_t steps_ = 0;
  int depth_ = 0;
  std::size_t used_ = 0;  ///< number of used example inputs
  struct StateInput {
    ir::NodeId node = ir::no_node;
    Array value;    ///< the example
    Array initial;  ///< what the first run finds
  };
  std::map<std::string, StateInput> state_inputs_;
  std::map<std::string, Ref> state_, state_before_scope_;
  std::set<std::string> outer_state_;  ///< state of the model around a body
  std::vector<Array> kept_state_;
  bool state_is_given_ = false;
  c10::IValue result_;
  double fill_ = 0;
  std::string empty_at_;
};

}  // namespace mase::libtorch
