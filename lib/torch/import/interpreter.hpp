// SPDX-License-Identifier: Apache-2.0
// Importer: partial evaluation of the un-inlined TorchScript program. Values that do not depend on
// the input are constants, calls of layers and functions become nodes, loops are unrolled.
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

/// Where a node stands in the original Python, with its text.
SourceText source_of(const jit::Node* node);
/// The places of a node in the Python file and in the archive's code, for errors.
std::string places_of(const jit::Node* node);

/// A file may not keep the importer busy for ever, nor take all memory: limits of nested calls, and
/// of evaluated nodes for each operator that ImportOptions::most_operators allows.
inline constexpr std::int64_t import_steps_per_operator = 5;
inline constexpr int import_depth_limit = 200;

/// Follows the TorchScript of a module on the example inputs, and writes down what it computes.
class Importer {
 public:
  /// `converted`: the type whose tensors became float32 before; it is float32 in the code, too.
  Importer(ir::Graph& graph, const backend::ImportOptions& options,
           std::optional<at::ScalarType> converted = std::nullopt)
      : builder_(graph), graph_(graph), options_(options), converted_(converted) {
    builder_.set_origins(options.origins);
    for (const auto& [path, tensor] : graph.tensors)
      for (const std::string& name : tensor.other_names) first_names_.emplace(name, path);
  }

  /// Evaluates the module's forward and finishes the graph.
  void run(const jit::Module& module);

  /// What stands in tensors that start without values, and the first place that makes one.
  void fill_with(double number) { fill_ = number; }
  const std::string& empty_at() const { return empty_at_; }

  // State (state.hpp): attributes of modules that a run changes.
  /// What the run finds in such attributes, as far as they are known: tensors are inputs.
  void begin_with(const State& state);
  State state_after() const;
  const c10::IValue& result() const { return result_; }  ///< of forward, on the example
  std::size_t used_inputs() const { return used_; }      ///< of the example inputs
  static void require_all_used(std::size_t used, std::size_t given);
  bool state_is_given() const { return state_is_given_; }  ///< some of it, as example inputs
  /// The examples of the inputs that are state, which stand behind the others.
  const std::vector<Array>& kept_state() const { return kept_state_; }

 private:
  using Handler = void (Importer::*)(const jit::Node*, Environment&);

  // Inputs.
  static bool is_traced(jit::Graph& graph);
  static void require_tensor(const c10::Argument& argument);
  void require_precision(const std::string& argument, std::size_t input) const;
  /// Whether the next example input is for this argument.
  bool takes_input(const std::string& argument, std::size_t used) const;
  std::vector<Ref> forward_arguments(const jit::Function& forward, Ref self);
  static ir::Value value_of(const Tree& tree);

  // State.
  void take_state();
  /// The state that results depend on, directly or through other state.
  std::set<std::string> needed_state(const Ref& result);
  /// The results by name, with the state that the next run finds.
  Ref with_state(const Ref& result, const std::set<std::string>& needed);
  void finish(const Ref& result);
  void set_state(const std::string& path, const Ref& value, const jit::Node* node);
  // Scopes of the builder, which may be abandoned with what they did to the state.
  void open_scope();
  void abandon_scope();

  // Calls.
  Ref call_forward(const jit::Function& forward, const std::vector<Ref>& arguments);
  Ref call_function(const jit::Function& function, const std::vector<Ref>& arguments);
  void run_block(const jit::Block* block, Environment& environment);
  /// Counts a step of the evaluation at `node`, within the limits.
  void take_step(const jit::Node* node);
  std::vector<Ref> inputs_of(const jit::Node* node, const Environment& environment);
  void call_method(const jit::Node* node, Environment& environment);
  bool may_be_leaf() const { return !in_body_ && !builder_.in_scope(); }
  bool is_leaf(const std::string& class_name) const;
  /// The layer as one node, or null when it is not one operator.
  Ref call_leaf(const Ref& self, const jit::Function& method, const std::vector<Ref>& arguments);
  /// Calls in a new scope. Null, without a scope, where a scope is not enough for a leaf that the
  /// user has chosen: it gets a graph of its own.
  Ref call_in_scope(bool chosen, const jit::Function& function, const std::vector<Ref>& arguments);
  /// A tuple with its elements, for a tuple that a node gives.
  Ref taken_apart(const Ref& value);
  /// A recurrent layer or cell of torch.nn as one node, or null when it does something else.
  Ref call_recurrent(const Ref& self, const jit::Function& method,
                     const std::vector<Ref>& arguments);
  /// False when the path is known with other constants: then the layer's operators are inlined.
  bool register_module(const ir::Module& module);
  void call_free_function(const jit::Node* node, Environment& environment);
  bool is_leaf_function(const std::string& target) const;
  /// Names of leaves that the model does not call are mistakes.
  void check_leaves(const std::string& option, const std::vector<std::string>& wanted,
                    const std::set<std::string>& met) const;
  std::string not_called(const std::string& name, const std::set<std::string>& met) const;
  void check_custom_ops() const;
  /// The custom op of a class or function; null for none.
  const ir::CustomOp* custom_op(std::string ir::CustomOp::*kind, const std::string& name) const;
  // Opaque leaves.
  /// An importer of a leaf's own graph, in which no layer or function is a leaf.
  Importer(ir::Graph& body, const Importer& outer);
  /// A layer (`self` is its module) or function as one node with a graph of its own, which may be
  /// a custom op.
  Ref call_opaque(ir::Node leaf, const jit::Function& function, const std::vector<Ref>& arguments,
                  const ir::CustomOp* op);
  Ref call_opaque_module(const Ref& self, const jit::Function& method,
                         const std::vector<Ref>& arguments, const ir::CustomOp* op);
  Ref call_opaque_function(const std::string& target, const jit::Function& function,
                           const std::vector<Ref>& arguments, const ir::CustomOp* op);
  /// An argument with a placeholder, named by `names`, for every tensor and size in it; constants
  /// are known inside, but those in a container beside other things are inputs, too.
  Ref body_input(const Ref& outer, const std::vector<std::string>& names, std::vector<Ref>& inputs,
                 bool whole);
  /// Takes over what the import of a body has found: guards, constants, names of what it calls.
  void adopt(ir::Graph& body, const Importer& inner);
  Ref call_leaf_function(const std::string& target, const jit::Function& function,
                         const std::vector<Ref>& arguments);

  // Nodes.
  void run_node(const jit::Node* node, Environment& environment);
  void constant(const jit::Node* node, Environment& environment);
  void get_attribute(const jit::Node* node, Environment& environment);
  // Objects of classes that are no modules: their fields dissolve.
  void create_object(const jit::Node* node, Environment& environment);
  void get_field(const jit::Node* node, Environment& environment);
  void set_attribute(const jit::Node* node, Environment& environment);
  /// `with x as y`: the methods __enter__ and __exit__.
  void enter(const jit::Node* node, Environment& environment);
  void leave(const jit::Node* node, Environment& environment);
  static const jit::Function& method_of(const Ref& self, const std::string& name,
                                        const jit::Node* node);
  /// A tensor of a module. Scripts name it where Python does; traces name all of them at the top.
  Ref attribute(const std::string& name, const c10::IValue& value);
  /// A module's list of tensors, as recurrent layers keep their weights: the attributes themselves.
  Ref attribute_list(const c10::IValue& tensors);

  // Control flow.
  bool decide(const Ref& condition, const jit::Node* node);
  void branch(const jit::Node* node, Environment& environment);
  void loop(const jit::Node* node, Environment& environment);
  void guard_trips(const Ref& trips, const jit::Node* node);
  /// Adds a guard to the graph, unless it is there.
  void add_guard(ir::Guard guard);
  /// Forgets all but the first `count` guards.
  void keep_guards(std::size_t count);
  void raise(const jit::Node* node, Environment& environment);
  void refuse(const jit::Node* node, Environment&);
  void ignore(const jit::Node* node, Environment& environment);

  // Containers.
  void construct(const jit::Node* node, Environment& environment);
  void construct_dict(const jit::Node* node, Environment& environment);
  /// Element `position` of a container known so far.
  Ref element(const Ref& container, std::int64_t position);
  void unpack(const jit::Node* node, Environment& environment);
  void index_container(const jit::Node* node, Environment& environment);
  static Ref& place_in(Cell& container, std::int64_t position);
  /// A list or dict becomes one with a cell for every element, which can be changed.
  void open_container(const Ref& container);
  /// What a method does to an attribute of the model would be there at the next run.
  static void refuse_own_container(const Ref& container, const jit::Node* node);
  /// A list with a cell for every element.
  Ref expanded(const Ref& list);
  Ref list_slice(const jit::Node* node, const std::vector<Ref>& inputs);
  void copy_list(const jit::Node* node, Environment& environment);
  void add(const jit::Node* node, Environment& environment);
  /// Whether lists or dicts have a method of this name.
  static bool is_container_method(const jit::Node* node);
  void container_method(const jit::Node* node, Environment& environment);
  /// TorchScript's own method, on values that are known for every input.
  void change_constant(const jit::Node* node, Environment& environment,
                       const std::vector<Ref>& inputs);
  void set_item(const jit::Node* node, Environment& environment);
  void length(const jit::Node* node, Environment& environment);

  // Aliases, and facts of the example that hold for every input.
  void alias(const jit::Node* node, Environment& environment);
  void alias_of_size(const jit::Node* node, Environment& environment);
  /// A tensor that is moved to where it is, by an operator of TorchScript alone, stays itself.
  void move_or_convert(const jit::Node* node, Environment& environment);
  void compare_none(const jit::Node* node, Environment& environment);
  /// Text of messages: what it says does not matter to the graph.
  void format(const jit::Node* node, Environment& environment);
  /// Ranks, dtypes and devices are taken from the example and hold for every accepted input.
  void example_constant(const jit::Node* node, Environment& environment);
  /// Whether a value has one of the types that the node names.
  void is_instance(const jit::Node* node, Environment& environment);

  // Operators.
  c10::IValue run_jit(const jit::Node* node, const std::vector<Ref>& inputs) const;
  /// Nothing runs that is random, comes from outside or is not on the list of operators.
  static void require_allowed(const jit::Node* node);
  static void require_fixed(const jit::Node* node, const c10::FunctionSchema& schema,
                            const jit::Stack& arguments);
  void fold(const jit::Node* node, Environment& environment, const std::vector<Ref>& inputs);
  void store_outputs(const jit::Node* node, Environment& environment, const Ref& result);
  void apply_operator(const jit::Node* node, Environment& environment);
  /// A truth value computed from sizes: no node, only a condition.
  static bool is_host_condition(const jit::Node* node, const std::vector<Ref>& inputs);
  /// A number read out of a tensor that was computed from sizes: a node as every other.
  static bool reads_size(const jit::Node* node, const std::vector<Ref>& inputs);
  /// A number read out of a tensor (not a size).
  static bool reads_tensor(const jit::Node* node, const std::vector<Ref>& inputs);
  Ref host_value(const jit::Node* node, const std::vector<Ref>& inputs) const;
  static std::string operator_name(const jit::Node* node);
  /// float32 in place of the type that became it, where an operator takes a type.
  Ref with_precision(const c10::Argument& argument, const Ref& cell) const;
  OpCall call_of(const jit::Node* node, const std::vector<Ref>& inputs) const;
  [[noreturn]] static void refuse_operator(const jit::Node* node);
  /// Makes mase::softsign of the three operators that PyTorch writes; true for each of them.
  bool fuse_softsign(const jit::Node* node, Environment& environment);
  /// torch.tensor of numbers and lists: scalars, stacked, where one is a size.
  void tensor_of(const jit::Node* node, Environment& environment);
  Ref stacked(const Ref& numbers, const std::vector<Ref>& dtype_and_device,
              const SourceText& source);
  /// A tensor of one number; results are the same for every number, or refused (state.hpp).
  void empty(const jit::Node* node, Environment& environment);
  static bool equals_default(const c10::Argument& argument, const Cell& cell);

  // Python indexing.
  /// Slices, selections and new axes of one subscript are one getitem: they wait in `pending_`
  /// until the next operator does not go on with the same subscript.
  void index_tensor(const jit::Node* node, Environment& environment);
  /// A part of a constant is a constant; what writes into it may not be one.
  void note_constant_view(const jit::Node* node, const std::vector<Ref>& inputs,
                          Environment& environment);
  /// x[0, 1] has one range of text for both selections, x[0][1] has two.
  static std::string subscript_place(const jit::Node* node);
  /// Whether the only use of the result goes on with the same subscript.
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
  std::unordered_set<std::string> guards_;     ///< those of the graph, in words
  std::set<std::string> classes_, functions_;  ///< of the modules and functions that were called
  bool traced_ = false;
  bool in_body_ = false;  ///< of an opaque leaf
  std::int64_t steps_ = 0;
  int depth_ = 0;
  std::size_t used_ = 0;  ///< of the example inputs
  struct StateInput {
    ir::NodeId node = ir::no_node;
    Array value;
  };
  std::map<std::string, StateInput> state_inputs_;
  std::map<std::string, Ref> state_, state_before_scope_;
  std::set<std::string> outer_state_;  ///< of the model around a body
  std::vector<Array> kept_state_;
  bool state_is_given_ = false;
  c10::IValue result_;
  double fill_ = 0;
  std::string empty_at_;
};

}  // namespace mase::libtorch
