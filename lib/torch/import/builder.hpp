// SPDX-License-Identifier: Apache-2.0
// Builder: turns operators met by the importer into graph nodes, torch.fx's way. It runs each
// operator on the example, keeps operators of a leaf layer in a scope until they are known to be
// one layer, and replaces in-place operators by out-of-place ones.
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

/// One operator call: arguments in the order of its schema, defaults included.
struct OpCall {
  std::string op;  ///< "aten::add.Tensor"
  std::vector<std::pair<std::string, Ref>> args;
  std::vector<bool> is_default;  ///< per argument: equals the schema's default
  SourceText source;
};

/// Appends nodes to a graph while TorchScript is interpreted, and runs each on the example.
class Builder {
 public:
  /// `constants`: how many tensors without a name there are already.
  explicit Builder(ir::Graph& graph, int constants = 0)
      : graph_(graph), tensor_constants_(constants) {}
  /// Where the placeholders' examples come from, for errors.
  void set_origins(std::vector<std::string> origins) { origins_ = std::move(origins); }
  int tensor_constants() const { return tensor_constants_; }
  void set_tensor_constants(int count) { tensor_constants_ = count; }

  Ref placeholder(const std::string& name, c10::IValue value);
  /// Runs and records a call that depends on the input; the cell is its result.
  Ref emit(OpCall call);
  /// `value[index]` as a mase::getitem node; `steps` where it is a view of the value.
  Ref get_item(const Ref& value, ir::Value index, c10::IValue result,
               std::vector<ViewStep> steps = {});

  // Memory. In-place operators become others that make a new tensor: what shares the memory of the
  // old one is told.
  /// Has a tensor that was made elsewhere watched, too, or one whose cell got another tensor.
  void watch(const Ref& tensor);
  /// Reads parts of changed tensors, which a subscript can find again, anew.
  void refresh(const Ref& cell);
  /// Whether a tensor shows memory as it was before a change, which is an error where it is used.
  static bool is_stale(const Ref& cell);
  static void refuse_stale(const Ref& cell, const std::string& place);
  /// A constant was changed while it was evaluated: constants that share its memory become new
  /// ones, and what was read from it is stale.
  void changed_constant(const at::Tensor& memory);
  void finish(const Ref& result);

  /// A cell as an argument of a node: emits get_attr nodes for tensors.
  ir::Value argument(const Ref& cell);
  /// Whether an attribute, which may be tied, has a name in a module or below it.
  bool has_name_below(const Cell& attribute, const std::string& module) const;
  /// The get_attr node of a tensor, made at once so that nodes stand in the order of the text.
  void touch_attribute(const Ref& cell);

  /// The node that a call would become outside of scopes.
  ir::Node node_of(const OpCall& call);
  /// A readable name of a value, for guards; ir::long_expression in place of a long one.
  std::string operand_text(const Cell& cell) const;

  // Scopes: calls inside are kept aside; then they become one node, or are forgotten.
  void open_scope();
  bool in_scope() const { return scope_.has_value(); }
  /// The one call that computes `result` from values outside, when there is just one.
  const OpCall* only_call(const Ref& result) const;
  /// The calls of the scope so far, and the one that gave a cell (null for what is no record).
  std::vector<const OpCall*> scope_calls() const;
  const OpCall* record(const Cell& cell) const;
  const OpCall* record(const Ref& cell) const { return record(*cell); }
  /// Whether the scope changed, in place, at most what it made itself.
  bool changes_nothing_outside() const;
  /// Whether a value is from outside the scope and the scope changed nothing in place.
  bool is_untouched(const Ref& result) const;
  /// Ends the scope with `node` in place of its only call.
  void close_scope(ir::Node node, const Ref& result);
  /// Ends the scope and drops its calls; a leaf takes their place.
  void end_scope();
  /// Adds a leaf with this result on the example.
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

  /// Sizes that a trace wraps in tensors become tensors where the operator takes tensors.
  void wrap_sizes(OpCall& call);
  Ref wrapped(const Ref& cell, const SourceText& source);
  c10::IValue run(const OpCall& call) const;
  [[noreturn]] void refuse(const OpCall& call, const std::string& reason) const;
  std::string examples_text() const;
  /// The name of a tensor stands for another; a transpose_ changes no more than that.
  Ref rename(const Ref& target, const Ref& result);
  /// Before a tensor changes that is a whole view, or one of one: what it is a view of becomes a
  /// view of it, so that nothing is written back unless it is read. False for other tensors.
  bool turn_around(const Ref& target, const SourceText& source);
  Ref bind_in_place(const Ref& target, const Ref& result, const SourceText& source);
  /// The tensor with the part that the steps from `step` on name replaced.
  Ref with_part(const Ref& tensor, const std::vector<ViewStep>& steps, std::size_t step,
                const Ref& part, const SourceText& source);
  void save(const Ref& cell);  ///< for a scope that may be abandoned
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

/// Records of the open scope are numbered below no_node.
inline ir::NodeId record_id(std::size_t index) { return -2 - static_cast<ir::NodeId>(index); }

/// Runs an operator of the dispatcher or the host table on a full list of arguments.
c10::IValue run_operator(const std::string& op, std::vector<c10::IValue> arguments);

}  // namespace mase::libtorch
