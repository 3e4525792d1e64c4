// SPDX-License-Identifier: Apache-2.0
// Builder turns the operators that the importer meets into graph nodes, as torch.fx does. It runs
// each operator on the example, holds the operators of a leaf layer in a scope until they are known
// to be one layer, and replaces in-place operators by out-of-place ones.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.hpp"
#include "torch/import/text.hpp"
#include "torch/import/value.hpp"
#include "torch/import/watched_tensors.hpp"

namespace mase::libtorch {

/// An operator call, with all arguments in the order of the schema, defaults included.
struct OpCall {
  std::string op;  ///< "aten::add.Tensor"
  std::vector<std::pair<std::string, Ref>> args;
  std::vector<bool> is_default;  ///< per argument: equals the schema's default
  SourceText source;
};

/// Appends nodes to a graph while TorchScript is interpreted, and runs each on the example.
class Builder {
 public:
  /// `constants` is the number of unnamed tensors that the graph already has.
  explicit Builder(ir::Graph& graph, int constants = 0)
      : graph_(graph), tensor_constants_(constants) {}
  /// Sets the sources of the placeholders' examples, for error messages.
  void set_origins(std::vector<std::string> origins) { origins_ = std::move(origins); }
  int tensor_constants() const { return tensor_constants_; }
  void set_tensor_constants(int count) { tensor_constants_ = count; }

  Ref placeholder(const std::string& name, c10::IValue value);
  /// Runs and records a call that depends on the input. Returns the cell of its result.
  Ref emit(OpCall call);
  /// Adds `value[index]` as a mase::getitem node. `steps` is given if it is a view of the value.
  Ref get_item(const Ref& value, ir::Value index, c10::IValue result,
               std::vector<ViewStep> steps = {});

  // Memory. In-place operators become operators that make a new tensor, and the cells that share
  // memory with the old tensor are updated.
  /// Watches a tensor that was made elsewhere, or whose cell has got another tensor.
  void watch(const Ref& tensor);
  /// Reads parts of changed tensors again if a subscript can find them.
  void refresh(const Ref& cell);
  /// Whether a tensor has values from before a change of its memory, so that using it is an error.
  static bool is_stale(const Ref& cell);
  static void refuse_stale(const Ref& cell, const std::string& place);
  /// To be called after a constant was changed by its evaluation: constants that share its memory
  /// become new ones, and values read from it become stale.
  void changed_constant(const at::Tensor& memory);
  void finish(const Ref& result);

  /// Converts a cell to an argument of a node, and emits get_attr nodes for tensors.
  ir::Value argument(const Ref& cell);
  /// Whether a (possibly tied) attribute has a name in the module or below it.
  bool has_name_below(const Cell& attribute, const std::string& module) const;
  /// Makes the get_attr node of a tensor at once, so that the order of nodes is that of the source.
  void touch_attribute(const Ref& cell);

  /// The node that a call would become outside a scope.
  ir::Node node_of(const OpCall& call);
  /// A readable name of a value for guards, or ir::long_expression if it would be long.
  std::string operand_text(const Cell& cell) const;

  // Scopes. Calls inside a scope are held back until they become one node or are dropped.
  void open_scope();
  bool in_scope() const { return scope_.has_value(); }
  /// The call that alone computes `result` from values outside the scope; null if there is none.
  const OpCall* only_call(const Ref& result) const;
  /// The calls of the scope so far, and the call that gave a cell (null if the scope has none).
  std::vector<const OpCall*> scope_calls() const;
  const OpCall* record(const Cell& cell) const;
  const OpCall* record(const Ref& cell) const { return record(*cell); }
  /// Whether all tensors that the scope changed in place were made in the scope.
  bool changes_nothing_outside() const;
  /// Whether a value comes from outside the scope, and the scope changed nothing in place.
  bool is_untouched(const Ref& result) const;
  /// Ends the scope, and puts `node` in the place of its only call.
  void close_scope(ir::Node node, const Ref& result);
  /// Ends the scope and drops its calls, because a leaf takes their place.
  void end_scope();
  /// Adds a leaf whose result on the example is `value`.
  Ref add_leaf(ir::Node node, c10::IValue value);
  void abandon_scope();

 private:
  struct Record {
    OpCall call;
    Ref result;
  };
  struct Rebound {  ///< a cell changed in the scope, with its state before
    Ref cell;
    Cell before;
  };
  struct Scope {
    std::vector<Record> records;
    std::vector<Rebound> rebound;
  };

  /// Turns sizes that a trace wraps in tensors into tensors if the operator takes tensors.
  void wrap_sizes(OpCall& call);
  Ref wrapped(const Ref& cell, const SourceText& source);
  c10::IValue run(const OpCall& call) const;
  [[noreturn]] void refuse(const OpCall& call, const std::string& reason) const;
  std::string examples_text() const;
  /// Lets the name of a tensor refer to another one, which is all that a transpose_ does.
  Ref rename(const Ref& target, const Ref& result);
  /// To be called before a change of a tensor that is a view of a whole tensor: the base becomes a
  /// view of it, so that nothing is written back unless it is read. False for other tensors.
  bool turn_around(const Ref& target, const SourceText& source);
  Ref bind_in_place(const Ref& target, const Ref& result, const SourceText& source);
  /// The tensor with one part replaced, which the steps from `step` on select.
  Ref with_part(const Ref& tensor, const std::vector<ViewStep>& steps, std::size_t step,
                const Ref& part, const SourceText& source);
  void save(const Ref& cell);  ///< saves it for a scope that may be abandoned
  ir::NodeId add_node(ir::Node node, const c10::IValue& value, const SourceText& source = {});
  /// The get_attr node of the tensor at the cell's path.
  ir::NodeRef attribute_node(const Cell& cell);
  std::string text_of(const OpCall& call) const;

  ir::Graph& graph_;
  std::optional<Scope> scope_;
  std::map<std::string, ir::NodeId> attribute_nodes_;
  WatchedTensors tensors_;  ///< every tensor cell, for aliasing checks
  std::vector<std::string> origins_;
  int tensor_constants_;
};

/// The number of a record of the open scope. These are below no_node.
inline ir::NodeId record_id(std::size_t index) { return -2 - static_cast<ir::NodeId>(index); }

/// Runs an operator of the dispatcher or the host table on a full list of arguments.
c10::IValue run_operator(const std::string& op, std::vector<c10::IValue> arguments);

}  // namespace mase::libtorch
