// SPDX-License-Identifier: Apache-2.0
// The verifier: one small function per invariant. Each adds sentences that name the node.
#include "ir/verify.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/custom_op.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}
  std::vector<std::string> run();

 private:
  void check_name(const Node& node);
  void check_references(const Node& node);
  void check_arguments(const Node& node);
  void check_place(const Node& node, bool last);
  void check_module(const Node& node);
  void check_module_tensors(const Node& node, const Module& module);
  void check_attribute(const Node& node);
  void check_operator(const Node& node);
  void check_custom_op(const Node& node);
  void check_formats(const Node& node);
  void check_tensor_order();
  void check_tensor_names();
  void check_beginnings();
  void complain(const Node& node, const std::string& what) {
    found_.push_back("node '" + node.name + "' " + what);
  }

  const Graph& graph_;
  std::vector<std::string> found_;
  std::set<NodeId> seen_;
  bool placeholders_done_ = false;
  int outputs_ = 0;
};

std::vector<std::string> Verifier::run() {
  for (NodeId id : graph_.order()) {
    if (!graph_.contains(id)) {
      found_.push_back("the order lists node " + std::to_string(id) + ", which was removed");
      continue;
    }
    const Node& node = graph_.node(id);
    check_name(node);
    check_references(node);
    check_arguments(node);
    check_place(node, id == graph_.order().back());
    check_module(node);
    check_attribute(node);
    check_operator(node);
    check_formats(node);
    seen_.insert(id);
  }
  if (outputs_ == 0) found_.push_back("graph '" + graph_.name + "' has no output node");
  check_tensor_order();
  check_tensor_names();
  check_beginnings();
  return std::move(found_);
}

void Verifier::check_name(const Node& node) {
  const bool valid = !node.name.empty() && std::ranges::all_of(node.name, is_identifier_char);
  if (!valid) complain(node, "has a name outside [A-Za-z0-9_]");
  // find_node returns this node only while no other node has taken or changed the name.
  const Node* named = graph_.find_node(node.name);
  if (named != &node) complain(node, "was renamed behind the graph's back, or shares its name");
}

void Verifier::check_references(const Node& node) {
  for (const Argument& argument : node.args)
    argument.value.for_each_node([&](NodeId id) {
      const std::string place = "argument '" + argument.name + "' ";
      if (!graph_.contains(id))
        complain(node, place + "refers to a node that was removed");
      else if (!seen_.contains(id))
        complain(node, place + "refers to '" + graph_.node(id).name + "', which comes later");
    });
}

void Verifier::check_arguments(const Node& node) {
  std::set<std::string_view> names;
  for (const Argument& argument : node.args)
    if (!names.insert(argument.name).second)
      complain(node, "has the argument '" + argument.name + "' twice");
}

void Verifier::check_place(const Node& node, bool last) {
  if (node.kind != NodeKind::placeholder)
    placeholders_done_ = true;
  else if (placeholders_done_)
    complain(node, "is a placeholder after other nodes");
  if (node.kind != NodeKind::output) return;
  if (++outputs_ > 1) complain(node, "is a second output");
  if (!last) complain(node, "is the output but not the last node");
  if (node.args.size() != 1) complain(node, "is the output and needs exactly one argument");
}

void Verifier::check_module(const Node& node) {
  if (node.kind != NodeKind::call_module) return;
  const auto it = graph_.modules.find(node.target);
  if (it == graph_.modules.end()) {
    complain(node, "calls the module '" + node.target + "', which is missing");
    return;
  }
  if (it->second.path != node.target)
    complain(node, "calls a module whose path is '" + it->second.path + "'");
  if (it->second.op != node.op)
    complain(node, "has the operator '" + node.op + "' but its module has '" + it->second.op + "'");
  check_module_tensors(node, it->second);
}

void Verifier::check_module_tensors(const Node& node, const Module& module) {
  for (const auto& [argument, path] : module.tensors)
    if (!graph_.tensors.contains(path))
      complain(node, "needs the tensor '" + path + "' as " + argument + ", which is missing");
}

void Verifier::check_attribute(const Node& node) {
  if (node.kind == NodeKind::get_attr && !graph_.tensors.contains(node.target))
    complain(node, "reads the tensor '" + node.target + "', which is missing");
}

void Verifier::check_operator(const Node& node) {
  const bool computes = node.kind == NodeKind::call_function ||
                        node.kind == NodeKind::call_method || node.kind == NodeKind::call_module;
  if (computes && node.op.empty()) complain(node, "has no operator");
  if (!computes && !node.op.empty())
    complain(node, "has the operator '" + node.op + "' but computes nothing");
  if (is_leaf(node.op) != (node.body != nullptr))
    complain(node, node.body ? "has a body but is not a leaf" : "is a leaf without a body");
  if (is_leaf(node.op) && node.op != leaf_op) check_custom_op(node);
}

void Verifier::check_custom_op(const Node& node) {
  const CustomOp* op = custom_op(graph_, node);
  if (!op) return complain(node, "is the custom op '" + node.op + "', which is missing");
  if (const std::string fault = input_fault(graph_, node); !fault.empty()) found_.push_back(fault);
  const auto module = graph_.modules.find(node.target);
  if (node.kind != NodeKind::call_module || module == graph_.modules.end()) return;
  if (const std::string fault = tensor_fault(*op, module->second); !fault.empty())
    found_.push_back(fault);
}

void Verifier::check_formats(const Node& node) {
  const bool broken_module =
      node.kind == NodeKind::call_module && !graph_.modules.contains(node.target);
  if (node.formats.empty() || broken_module) return;
  const Classified what = classify(graph_, node);
  std::vector<std::string> allowed;
  if (what.row)
    allowed = port_names(*what.row);
  else if (node.kind != NodeKind::output)
    allowed = {"data_out"};
  for (const auto& [port, format] : node.formats)
    if (std::ranges::find(allowed, port) == allowed.end())
      complain(node, "has a format on '" + port + "', which op '" + what.op + "' does not have");
}

void Verifier::check_tensor_order() {
  std::set<std::string> listed(graph_.tensor_order.begin(), graph_.tensor_order.end());
  if (listed.size() != graph_.tensor_order.size())
    found_.push_back("tensor_order of graph '" + graph_.name + "' lists a tensor twice");
  for (const auto& [path, tensor] : graph_.tensors)
    if (!listed.contains(path)) found_.push_back("tensor '" + path + "' is not in tensor_order");
  for (const std::string& path : listed)
    if (!graph_.tensors.contains(path))
      found_.push_back("tensor_order lists the missing tensor '" + path + "'");
}

void Verifier::check_tensor_names() {
  std::set<std::string> taken;
  for (const auto& [path, tensor] : graph_.tensors)
    for (const std::string& name : names_of(path, tensor))
      if (!taken.insert(name).second) found_.push_back("two tensors have the name '" + name + "'");
}

void Verifier::check_beginnings() {
  std::set<std::string> begun;
  for (const auto& [path, tensor] : graph_.tensors) {
    if (tensor.begins.empty()) continue;
    if (!begun.insert(tensor.begins).second)
      found_.push_back("two tensors are what input '" + tensor.begins + "' begins with");
    const auto inputs = graph_.placeholders();
    const auto input =
        std::ranges::find(inputs, tensor.begins, [&](NodeId id) { return graph_.node(id).target; });
    if (input == inputs.end() || graph_.node(*input).info.dtype != tensor.value.dtype())
      found_.push_back("tensor '" + path + "' begins '" + tensor.begins +
                       "', which is not an input of its type");
  }
}

}  // namespace

std::vector<std::string> verify(const Graph& graph) {
  std::vector<std::string> found = Verifier(graph).run();
  const bool leaves = std::ranges::any_of(
      graph.order(), [&](NodeId id) { return graph.contains(id) && graph.node(id).body; });
  if (!found.empty() || !leaves) return found;
  try {
    return Verifier(without_leaf_bodies(graph)).run();
  } catch (const Error& error) {
    return {error.what()};
  }
}

}  // namespace mase::ir
