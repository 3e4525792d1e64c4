// SPDX-License-Identifier: Apache-2.0
// MethodBuilder builds the TorchScript graph of one method of an exported module, node by node.
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

/// The source of a function (x, training) that quantizes tensors of this rank, without its name. If
/// `keeps_masks`, it leaves masks as -inf (ir/masks.hpp).
std::string quantizer_source(const formats::Format& format, int rank, bool keeps_masks = false);

/// Writes one TorchScript method, operator by operator.
class MethodBuilder {
 public:
  using JitValue = torch::jit::Value;
  /// Makes the value of one operator argument, in the type that the operator takes.
  using Operand = std::function<JitValue*(const c10::TypePtr& wanted)>;
  using Operands = std::vector<std::pair<std::string, Operand>>;
  /// Finds the TorchScript value for a node of the exported graph.
  using NodeLookup = std::function<JitValue*(ir::NodeId)>;

  explicit MethodBuilder(const torch::jit::Module& owner);

  JitValue* add_input(const std::string& name, const c10::TypePtr& type);
  /// Reads `self.<path>`, where dots lead through submodules. Each path is read only once.
  JitValue* attribute(const std::string& path);
  /// The tensor at `path`, relative to the owner: the attribute itself, or the decoded values if
  /// codes are stored in its place. `stem` is the name of the codes (ir::code_stem), also relative
  /// to the owner.
  JitValue* tensor(const std::string& path, const ir::Tensor& tensor, const std::string& stem);
  JitValue* constant(const c10::IValue& value);
  JitValue* list(const c10::TypePtr& element, const std::vector<JitValue*>& items);

  /// Writes a value of the exported graph; nodes in it are looked up. Literals follow the `wanted`
  /// type: an int becomes a float for a float argument, and a tuple a list for a list argument.
  JitValue* lower(const ir::Value& value, const c10::TypePtr& wanted, const NodeLookup& lookup);
  /// The same if the wanted type is unknown.
  JitValue* lower_free(const ir::Value& value, const NodeLookup& lookup);

  /// Calls an operator such as "aten::add.Tensor". Arguments without an operand have their
  /// defaults. The operators of mase are written with those of PyTorch. Several results become a
  /// tuple. Error(Fault::unsupported) if LibTorch has no such operator, or the operator has no such
  /// argument.
  JitValue* call(const std::string& op, const Operands& operands);
  /// The same, with the arguments in the operator's order.
  JitValue* call_positional(const std::string& op, const std::vector<JitValue*>& values);
  /// Python indexing of a tensor, list, tuple or dict.
  JitValue* get_item(JitValue* base, const ir::Value& index, const NodeLookup& lookup);
  /// Fake-quantizes a tensor of this rank, or every tensor of a list: exactly the format's values
  /// in eval mode, with straight-through gradients in training mode.
  JitValue* quantize(JitValue* value, const formats::Format& format, int rank,
                     bool keeps_masks = false);
  /// Sets the result of a softmax to 0 where its input is masked.
  JitValue* hide_masked(JitValue* input, JitValue* result);
  /// Adds 1 to a counter tensor while training.
  void count_while_training(JitValue* counter);
  /// The weight of the last counted batch in the mean over all batches; 0 in eval mode.
  JitValue* weight_of_batch(JitValue* counter);
  /// Calls "run", the last function in `source`; the archive contains the source once, as `name`.
  JitValue* call_functions(const std::string& name, const std::string& source,
                           const std::vector<JitValue*>& arguments);
  JitValue* call_method(JitValue* module, const std::string& method,
                        const std::vector<JitValue*>& arguments, const c10::TypePtr& result);

  /// Adds the method to the owner's class and returns its result type.
  c10::TypePtr finish(const std::string& method, JitValue* result);

 private:
  /// Calls a function of the archive, and defines it at its first call. All ports with one format
  /// call the same function, so that the code does not grow with the number of ports.
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
