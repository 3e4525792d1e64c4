// SPDX-License-Identifier: Apache-2.0
// MethodBuilder: the TorchScript graph of one method of an exported module, built node by node.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.hpp"
#include "ir/graph.hpp"

namespace mase::libtorch {

/// What follows the name of a function (x, training) that quantizes tensors of this rank. One that
/// keeps masks leaves them as -inf (ir/masks.hpp).
std::string quantizer_source(const formats::Format& format, int rank, bool keeps_masks = false);

/// Writes one TorchScript method, operator by operator.
class MethodBuilder {
 public:
  using JitValue = torch::jit::Value;
  /// Makes the value of one operator argument, of the type that the operator wants.
  using Operand = std::function<JitValue*(const c10::TypePtr& wanted)>;
  using Operands = std::vector<std::pair<std::string, Operand>>;
  /// The TorchScript value of a node of our graph.
  using NodeLookup = std::function<JitValue*(ir::NodeId)>;

  explicit MethodBuilder(const torch::jit::Module& owner);

  JitValue* add_input(const std::string& name, const c10::TypePtr& type);
  /// `self.<path>`, dots going through submodules; each path is read once.
  JitValue* attribute(const std::string& path);
  /// A tensor of the module at `path`, a path from the owner: the attribute itself, or what the
  /// codes that stand in its place decode to. `stem` names these (ir::code_stem), from the owner
  /// too.
  JitValue* tensor(const std::string& path, const ir::Tensor& tensor, const std::string& stem);
  JitValue* constant(const c10::IValue& value);
  JitValue* list(const c10::TypePtr& element, const std::vector<JitValue*>& items);

  /// A value of our graph; nodes in it are looked up. `wanted` steers how literals are written: an
  /// int for a float argument becomes a float, a tuple for a list argument a list.
  JitValue* lower(const ir::Value& value, const c10::TypePtr& wanted, const NodeLookup& lookup);
  /// The same where nothing says which type is wanted.
  JitValue* lower_free(const ir::Value& value, const NodeLookup& lookup);

  /// Runs an operator, "aten::add.Tensor"; arguments not among the operands take their defaults.
  /// Operators of our own are written as PyTorch's.
  /// Several results become a tuple. Error(Fault::unsupported) when LibTorch has no such operator
  /// or an argument is not one of its arguments.
  JitValue* call(const std::string& op, const Operands& operands);
  /// The same with the arguments in the operator's order.
  JitValue* call_positional(const std::string& op, const std::vector<JitValue*>& values);
  /// Python indexing of a tensor, list, tuple or dict.
  JitValue* get_item(JitValue* base, const ir::Value& index, const NodeLookup& lookup);
  /// Fake quantization of a tensor of this rank, or of every tensor of a list of such: the format's
  /// bits in eval mode, straight-through in training mode.
  JitValue* quantize(JitValue* value, const formats::Format& format, int rank,
                     bool keeps_masks = false);
  /// The result of a softmax, 0 where its input is masked.
  JitValue* hide_masked(JitValue* input, JitValue* result);
  /// Adds 1 to a counter tensor while training.
  void count_while_training(JitValue* counter);
  /// The weight of the last counted batch in the mean over all of them; 0 in eval mode.
  JitValue* weight_of_batch(JitValue* counter);
  /// Calls the last of the functions in `source`, "run", which the archive holds once under `name`.
  JitValue* call_functions(const std::string& name, const std::string& source,
                           const std::vector<JitValue*>& arguments);
  JitValue* call_method(JitValue* module, const std::string& method,
                        const std::vector<JitValue*>& arguments, const c10::TypePtr& result);

  /// Registers the method on the owner's class; returns its result type.
  c10::TypePtr finish(const std::string& method, JitValue* result);

 private:
  /// Calls one of the archive's own functions, defined where it is first called: every port of a
  /// format calls the same one, so an archive's code does not grow with its ports.
  JitValue* call_shared(const std::string& folder, const std::string& name,
                        const std::string& source, const std::vector<JitValue*>& arguments);
  JitValue* decoded(const ir::Tensor& tensor, const std::string& stem);
  JitValue* added_product(JitValue* bias, JitValue* x, JitValue* weight);
  std::vector<JitValue*> inline_function(const std::string& source,
                                         const std::vector<JitValue*>& arguments);
  JitValue* lower_items(const ir::Value& value, const c10::TypePtr& wanted,
                        const NodeLookup& lookup);
  JitValue* lower_dict(const ir::Value& value, const NodeLookup& lookup);
  JitValue* run(const c10::FunctionSchema& schema, const std::vector<JitValue*>& values);
  JitValue* index_tensor(JitValue* base, const std::vector<ir::Value>& items,
                         const NodeLookup& lookup);

  torch::jit::Module owner_;
  std::shared_ptr<torch::jit::Graph> graph_;
  JitValue* self_;
  std::map<std::string, JitValue*> attributes_, decoded_;
};

}  // namespace mase::libtorch
