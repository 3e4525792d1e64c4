// SPDX-License-Identifier: Apache-2.0
// Layers of torch.nn: the nodes that were recorded in a layer's forward become one node if they are
// one call on the layer's own tensors.
#include <algorithm>

#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// The argument that says whether the layer trains. An export for inference has it false; the layer
/// itself asks whether the model trains.
bool is_training_flag(const ir::Argument& argument) {
  const bool named = argument.name == "training" || argument.name == "train";
  return named && argument.value == ir::Value(false);
}

/// Whether an argument says which library computes, not what.
bool is_about_libraries(const std::string& name) {
  return name == "cudnn_enabled" || name == "cudnn_enable";
}

/// All arguments of the call in the order of the signature, defaults included.
std::vector<ir::Argument> all_arguments(const Call& call) {
  std::vector<ir::Argument> all;
  for (const ir::SchemaArgument& formal : call.schema->arguments) {
    const auto given = std::ranges::find(call.args, formal.name, &ir::Argument::name);
    ir::Value value = given != call.args.end() ? given->value : formal.fallback;
    if (given == call.args.end() && formal.list_size > 1 && value.is_number())
      value = ir::Value::list(ir::Value::List(static_cast<std::size_t>(formal.list_size), value));
    if (given == call.args.end() && formal.list_size > 0 && value.is_number())
      value = ir::Value::list({value});
    all.push_back({formal.name, std::move(value)});
  }
  return all;
}

}  // namespace

bool Importer::register_module(const ir::Module& module) {
  const auto [found, added] = graph_.modules.emplace(module.path, module);
  return added || (found->second.op == module.op && found->second.attributes == module.attributes &&
                   found->second.tensors == module.tensors);
}

bool Importer::import_layer(Range range, const ModuleCall& module) {
  const Node* only = nullptr;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Node& node = program_.nodes[i];
    if (is_assertion(node)) continue;
    if (only) return false;
    only = &node;
  }
  if (!only) return true;
  try {
    Call call = call_of(*only);
    return call.schema && add_layer(std::move(call), module);
  } catch (const Error& error) {
    throw Error(error.fault(), "the layer '" + module.path + "': " + error.what());
  }
}

bool Importer::add_layer(Call call, const ModuleCall& module) {
  ir::Module layer{module.path, module.class_name, call.op, {}, {}};
  ir::Node node;
  for (ir::Argument& argument : all_arguments(call)) {
    const ir::Value& value = argument.value;
    if (value.kind() == ir::Value::Kind::string && value.as_string().starts_with('@')) {
      const std::string path = value.as_string().substr(1);
      if (!path.starts_with(module.path + ".")) return false;
      layer.tensors.emplace_back(argument.name, path);
    } else if (value.is_node()) {
      node.args.push_back(std::move(argument));
    } else {
      bool has_nodes = false;
      value.for_each_node([&](ir::NodeId) { has_nodes = true; });
      if (has_nodes || (value.kind() == ir::Value::Kind::list && !value.items().empty() &&
                        value.items()[0].kind() == ir::Value::Kind::string))
        return false;
      if (is_training_flag(argument)) argument.value = ir::TrainingFlag{};
      if (is_about_libraries(argument.name)) argument.value = true;
      if (!argument.value.is_none()) layer.attributes.push_back(std::move(argument));
    }
  }
  if (node.args.empty() || !register_module(layer)) return false;
  node.kind = ir::NodeKind::call_module;
  node.target = module.path;
  node.op = call.op;
  bind_results(*call.node, add(std::move(node), *call.node));
  return true;
}

}  // namespace mase::pt2
