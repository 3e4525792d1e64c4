// SPDX-License-Identifier: Apache-2.0
// Opaque leaves: layers and functions of several operators that a user wants to keep as one node.
// Their graph is imported separately, on the same example.
#include <algorithm>

#include "base/error.hpp"
#include "ir/leaf_bodies.hpp"
#include "torch/import/interpreter.hpp"
#include "torch/import/module.hpp"

namespace mase::libtorch {

Importer::Importer(ir::Graph& body, const Importer& outer)
    : builder_(body, outer.builder_.tensor_constants()),
      graph_(body),
      options_(outer.options_),
      converted_(outer.converted_),
      first_names_(outer.first_names_),
      root_(outer.root_),
      traced_(outer.traced_),
      in_body_(true),
      steps_(outer.steps_),
      depth_(outer.depth_),
      fill_(outer.fill_) {
  for (const auto& [path, cell] : outer.state_) outer_state_.insert(path);
}

Ref Importer::body_input(const Ref& outer, const std::vector<std::string>& names,
                         std::vector<Ref>& inputs, bool whole) {
  if (whole && is_static(*outer)) return outer;
  if (is_container(*outer)) {
    Cell copy = *outer;
    for (Ref& item : copy.items) item = body_input(item, names, inputs, false);
    return make_cell(std::move(copy));
  }
  if (is_static(*outer) && !outer->value.isTensor()) return outer;
  Ref input = builder_.placeholder(names.at(inputs.size()), outer->value);
  input->size_tensor = outer->size_tensor;
  input->from_sizes = outer->from_sizes;
  input->text = outer->text;
  inputs.push_back(input);
  return input;
}

namespace {

std::string operator_of(const ir::CustomOp* op) {
  return op ? ir::leaf_of(op->name) : std::string(ir::leaf_op);
}

/// Refuses a mismatch between a model and the user's table.
void refuse_fault(const ir::CustomOp& op, const std::string& fault) {
  Diagnostics problem;
  if (!fault.empty()) problem.error(op.where, fault);
  problem.throw_if_errors();
}

}  // namespace

Ref Importer::call_opaque(ir::Node leaf, const jit::Function& function,
                          const std::vector<Ref>& arguments, const ir::CustomOp* op) {
  leaf.op = operator_of(op);
  if (op) graph_.custom_ops.emplace(op->name, options_.custom_ops.at(op->name));
  std::vector<std::string> names;  // of the nodes that are read: guards speak of these
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (is_static(*arguments[i])) continue;
    leaf.args.push_back(
        {function.getSchema().arguments().at(i).name(), builder_.argument(arguments[i])});
    leaf.args.back().value.for_each_node(
        [&](ir::NodeId id) { names.push_back(graph_.node(id).name); });
  }
  auto body = std::make_shared<ir::Graph>();
  Importer inner(*body, *this);
  std::vector<Ref> inputs, given;
  for (const Ref& argument : arguments)
    given.push_back(inner.body_input(argument, names, inputs, true));
  const std::vector<ir::NodeId> nodes = body->placeholders();
  const Ref result = inner.call_function(function, given);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->node != nodes[i] || inputs[i]->stale)
      unsupported_error("the leaf '" + leaf.target + "' changes its input '" + names[i] +
                        "' in place; without the option it is imported op by op");
  inner.builder_.finish(result);
  adopt(*body, inner);
  leaf.body = std::move(body);
  if (op) refuse_fault(*op, ir::input_fault(graph_, leaf));
  return builder_.add_leaf(std::move(leaf), concrete(*result));
}

void Importer::adopt(ir::Graph& body, const Importer& inner) {
  steps_ = inner.steps_;
  if (empty_at_.empty()) empty_at_ = inner.empty_at_;
  builder_.set_tensor_constants(inner.builder_.tensor_constants());
  classes_.insert(inner.classes_.begin(), inner.classes_.end());
  functions_.insert(inner.functions_.begin(), inner.functions_.end());
  for (const ir::Guard& guard : body.guards) add_guard(guard);
  for (const std::string& path : body.tensor_order)
    if (!graph_.tensors.contains(path)) graph_.set_tensor(path, body.tensors.at(path));
  body.guards.clear();
  body.tensors.clear();
  body.tensor_order.clear();
  body.remove_dead_nodes();
}

Ref Importer::call_opaque_module(const Ref& self, const jit::Function& method,
                                 const std::vector<Ref>& arguments, const ir::CustomOp* op) {
  LeafCall leaf = empty_leaf(self, operator_of(op));
  const Ref result = call_opaque(std::move(leaf.node), method, arguments, op);
  for (const auto& [path, tensor] : graph_.tensors)
    for (const std::string& name : ir::names_of(path, tensor))
      if (name.starts_with(self->path + "."))
        leaf.module.tensors.emplace_back(name.substr(self->path.size() + 1), path);
  if (op) refuse_fault(*op, ir::tensor_fault(*op, leaf.module));
  if (!register_module(leaf.module))
    unsupported_error("'" + self->path + "' is a leaf and also another layer");
  return result;
}

Ref Importer::call_opaque_function(const std::string& target, const jit::Function& function,
                                   const std::vector<Ref>& arguments, const ir::CustomOp* op) {
  ir::Node leaf;
  leaf.kind = ir::NodeKind::call_function;
  leaf.target = target;
  return call_opaque(std::move(leaf), function, arguments, op);
}

}  // namespace mase::libtorch
