// SPDX-License-Identifier: Apache-2.0
// Builds and calls the methods of leaf modules.
#include "torch/export/leaf.hpp"

#include <algorithm>

#include "ir/naming.hpp"
#include "ir/text.hpp"
#include "torch/export/formats.hpp"
#include "torch/export/recurrent.hpp"
#include "torch/run/fold_batch_norm.hpp"

namespace mase::libtorch {

namespace {

using JitValue = MethodBuilder::JitValue;

/// Whether a tensor has a name in the leaf's module. Other tensors are passed as arguments.
bool is_own(const ir::Graph& graph, const ir::Module& module, const std::string& path) {
  return ir::name_in_module(graph, path, module.path).has_value();
}

std::ptrdiff_t count_foreign(const ir::Graph& graph, const ir::Module& module) {
  return std::count_if(module.tensors.begin(), module.tensors.end(),
                       [&](const auto& tensor) { return !is_own(graph, module, tensor.second); });
}

std::string float_marks(const ir::Graph& graph, const ir::Value& value) {
  std::string marks = "%";
  value.for_each_node(
      [&](ir::NodeId id) { marks += takes_format(graph.node(id).info) ? "f" : "-"; });
  return marks;
}

/// The body of a method. Its inputs are the data arguments that are nodes, followed by the tensors
/// that are not the leaf's own.
class LeafBuilder {
 public:
  LeafBuilder(const ir::Graph& graph, const ir::Masks& masks, const ir::Node& node,
              const torch::jit::Module& owner)
      : graph_(graph),
        masks_(masks),
        node_(node),
        module_(graph.module_of(node)),
        formats_(graph, node),
        leaf_(owner) {}

  c10::TypePtr build(const std::string& name, const std::vector<JitValue*>& arguments) {
    add_inputs(arguments);
    add_data();
    add_tensors();
    count_batches();
    for (const ir::Argument& attribute : module_.attributes) {
      if (counter_ != nullptr && attribute.name == "momentum" && attribute.value.is_none())
        add_value("momentum", leaf_.weight_of_batch(counter_));
      else
        add_constant(attribute);
    }
    return leaf_.finish(name, quantize_output(leaf_, node_, result(), masks_.in(node_.id)));
  }

 private:
  JitValue* result() {
    const RecurrentOp* recurrent = find_recurrent(module_.op);
    if (recurrent == nullptr) return hidden(leaf_.call(module_.op, operands_));
    const auto state = node_.formats.find("state");
    const bool given = state != node_.formats.end() && takes_format(graph_, *node_.find("input"));
    return call_recurrent(leaf_, *recurrent,
                          {.stepwise = !node_.formats.empty(),
                           .packed = node_.find("batch_sizes") != nullptr,
                           .state = given ? &state->second : nullptr},
                          operands_);
  }

  JitValue* hidden(JitValue* result) {
    if (!masks_.hide(node_)) return result;
    return leaf_.hide_masked(operands_.front().second(c10::TensorType::get()), result);
  }

  /// Adds all inputs, which come before the body.
  void add_inputs(const std::vector<JitValue*>& arguments) {
    const auto add = [&](const std::string& name) {
      inputs_.push_back(leaf_.add_input(name, arguments.at(inputs_.size())->type()));
    };
    for (const ir::Argument& argument : node_.args)
      if (has_nodes(argument.value)) add(argument.name);
    for (const auto& [argument, path] : module_.tensors)
      if (!is_own(graph_, module_, path)) add(argument);
  }

  void add_data() {
    auto input = inputs_.begin();
    for (const ir::Argument& argument : node_.args) {
      if (!has_nodes(argument.value)) {
        add_constant(argument);
        continue;
      }
      const formats::Format* format = formats_.find(argument.name, first_node(argument.value));
      // The format of a recurrent layer's state applies at every step.
      const bool now = format != nullptr && !(argument.name == "hx" && find_recurrent(module_.op));
      const bool quantized = now && takes_format(graph_, argument.value);
      JitValue* value = *input++;
      add_value(argument.name, quantized
                                   ? leaf_.quantize(value, *format, rank_of(graph_, argument.value),
                                                    masks_.in(argument.value))
                                   : value);
    }
  }

  void add_tensors() {
    auto input = inputs_.end() - count_foreign(graph_, module_);
    for (const auto& [argument, path] : module_.tensors) {
      const ir::Tensor& stored = graph_.tensors.at(path);
      const auto own = ir::name_in_module(graph_, path, module_.path);
      JitValue* tensor = own ? own_tensor(*own, stored) : *input++;
      const formats::Format* format = formats_.find(argument);
      const Array& array = stored.value;
      const bool quantized = format != nullptr && array.dtype() == DType::float32 && !stored.coded;
      const auto rank = static_cast<int>(array.shape().size());
      add_value(argument, quantized ? leaf_.quantize(tensor, *format, rank) : tensor);
    }
  }

  JitValue* own_tensor(const std::string& name, const ir::Tensor& stored) {
    const std::string stem = ir::code_stem(graph_, module_.path + "." + name);
    return leaf_.tensor(name, stored, std::string(ir::last_part(stem)));
  }

  /// Adds the counter of batches that a batch norm was trained on.
  void count_batches() {
    const std::string counter = "num_batches_tracked";
    if (module_.op != "aten::batch_norm" || !graph_.tensor_named(module_.path + "." + counter) ||
        has_fixed_statistics(graph_, node_))
      return;
    counter_ = leaf_.attribute(counter);
    leaf_.count_while_training(counter_);
  }

  void add_value(const std::string& argument, JitValue* value) {
    operands_.emplace_back(argument, [value](const c10::TypePtr&) { return value; });
  }

  void add_constant(const ir::Argument& argument) {
    operands_.emplace_back(argument.name, [this, &argument](const c10::TypePtr& type) {
      return leaf_.lower(argument.value, type, {});
    });
  }

  const ir::Graph& graph_;
  const ir::Masks& masks_;
  const ir::Node& node_;
  const ir::Module& module_;
  PortFormats formats_;
  MethodBuilder leaf_;
  std::vector<JitValue*> inputs_;
  MethodBuilder::Operands operands_;
  JitValue* counter_ = nullptr;
};

}  // namespace

JitValue* LeafMethods::call(const ir::Node& node, MethodBuilder& top,
                            const MethodBuilder::NodeLookup& lookup) {
  const ir::Module& module = graph_.module_of(node);
  std::vector<JitValue*> arguments;
  for (const ir::Argument& argument : node.args)
    if (has_nodes(argument.value)) arguments.push_back(top.lower_free(argument.value, lookup));
  for (const auto& [name, path] : module.tensors)
    if (!is_own(graph_, module, path))
      arguments.push_back(top.tensor(path, graph_.tensors.at(path), ir::code_stem(graph_, path)));
  const Method& called = method(node, arguments);
  return top.call_method(top.attribute(module.path), called.name, arguments, called.result);
}

std::string LeafMethods::signature(const ir::Node& node) const {
  std::string text = node.target;
  for (const ir::Argument& argument : node.args)
    text += "|" + argument.name + "=" +
            (has_nodes(argument.value) ? float_marks(graph_, argument.value)
                                       : ir::print(graph_, argument.value));
  for (const auto& [port, format] : node.formats) text += "|" + port + ":" + format.text();
  for (const ir::Argument& argument : node.args)
    if (masks_.in(argument.value)) text += "|masks in " + argument.name;
  if (masks_.in(node.id)) text += "|masks out";
  return text + (takes_format(node.info) ? "" : "|plain");
}

const LeafMethods::Method& LeafMethods::method(const ir::Node& node,
                                               const std::vector<JitValue*>& arguments) {
  const std::string key = signature(node);
  const auto known = methods_.find(key);
  if (known != methods_.end()) return known->second;
  const int number = counts_[node.target]++;
  const std::string name = number == 0 ? "forward" : "forward" + std::to_string(number);
  const c10::TypePtr result =
      LeafBuilder(graph_, masks_, node, tree_.modules.at(node.target)).build(name, arguments);
  return methods_.emplace(key, Method{name, result}).first->second;
}

}  // namespace mase::libtorch
