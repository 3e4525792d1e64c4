// SPDX-License-Identifier: Apache-2.0
// Layers of torch.nn: the nodes that were recorded in a layer's forward become one node if they are
// one call on the layer's own tensors.
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "pt2/fields.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// The argument that says whether the layer trains. An export for inference has it false; the layer
/// itself asks whether the model trains.
bool is_training_flag(const ir::Argument& argument) {
  const bool named = argument.name == "training" || argument.name == "train";
  return named && argument.value == ir::Value(false);
}

/// Whether a node computes with sizes alone, which nodes outside of the layer may read too.
bool is_size(const Node& node) { return is_size_operator(node.target); }

/// Whether a layer of this class may be the call: one of its operators, or one that does the same
/// to dimensions (nn.ReLU6 calls hardtanh).
bool is_of_class(const Call& call, const ModuleCall& module) {
  const ir::LayerRow* layer = ir::find_module_class(module.class_name);
  if (!layer) return false;
  const std::string_view op = ir::plain_op(ir::base_op(call.op));
  const ir::CallRow* row = ir::find_call(op);
  return ir::computes(*layer, op) || (row && ir::family_of(row->op) == ir::family_of(layer->op));
}

/// Decompositions write pooling to one element as a mean over the last dimensions.
void use_pooling(Call& call, const ModuleCall& module) {
  constexpr std::string_view pool = "torch.nn.modules.pooling.AdaptiveAvgPool";
  if (call.op != "aten::mean.dim" || !module.class_name.starts_with(pool)) return;
  const ir::Value *dim = call.find("dim"), *keep = call.find("keepdim");
  if (!dim || !keep || *keep != ir::Value(true) || dim->kind() != ir::Value::Kind::list) return;
  const auto count = static_cast<std::int64_t>(dim->items().size());
  for (std::int64_t i = 1; i <= count; ++i)
    if (std::ranges::find(dim->items(), ir::Value(-i)) == dim->items().end()) return;
  call.op = "aten::adaptive_avg_pool" + module.class_name.substr(pool.size());
  call.schema = ir::find_schema(call.op);
  call.args = {call.args.at(0),
               {"output_size", ir::Value::list(ir::Value::List(dim->items().size(), 1))}};
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

std::string input_of(const Node& node, std::string_view name) {
  const Tree* value = node.find(name);
  const std::vector<std::string> names = value ? names_in(*value) : std::vector<std::string>();
  return names.size() == 1 ? names[0] : "";
}

std::string output_of(const Node& node) { return names_in(node.outputs.at(0)).at(0); }

ir::Value Importer::value_of(const std::string& name) {
  return named(Tree(Tree::Dict{{"name", Tree(name)}}));
}

std::vector<SymInt> Importer::sizes_of(const std::string& name) const {
  const auto found = program_.tensors.find(name);
  return found == program_.tensors.end() ? std::vector<SymInt>() : found->second.sizes;
}

bool Importer::is_tensor_of_model(const std::string& name) const {
  const auto found = slots_.find(name);
  return found != slots_.end() && graph_.tensors.contains(found->second.path);
}

bool Importer::is_transpose(const Node& node) const {
  const std::string op = operator_of(node.target);
  const Tree* order = node.find("dims");
  return (op == "aten::t" || (op == "aten::permute" && order &&
                              union_of(*order, "dims").value == Tree::list_of(std::array{1, 0}))) &&
         is_tensor_of_model(input_of(node, "self"));
}

std::string LinearParts::data() const {
  return before ? input_of(*before, "self") : input_of(*product, has_bias ? "mat1" : "self");
}

std::optional<LinearParts> linear_parts(const std::vector<const Node*>& nodes) {
  LinearParts parts;
  for (const Node* node : nodes) {
    const std::string op = operator_of(node->target);
    const bool view = op == "aten::view" || op == "aten::_unsafe_view" || op == "aten::reshape";
    const Node** place = op == "aten::permute" || op == "aten::t"  ? &parts.transpose
                         : op == "aten::addmm" || op == "aten::mm" ? &parts.product
                         : view && !parts.product                  ? &parts.before
                         : view                                    ? &parts.after
                                                                   : nullptr;
    if (!place || *place) return std::nullopt;
    *place = node;
  }
  if (!parts.transpose || !parts.product || !parts.before != !parts.after) return std::nullopt;
  parts.has_bias = operator_of(parts.product->target) == "aten::addmm";
  const bool chained =
      input_of(*parts.product, "mat2") == output_of(*parts.transpose) &&
      parts.product->inputs.size() == (parts.has_bias ? 3u : 2u) &&
      (!parts.before ||
       (input_of(*parts.product, parts.has_bias ? "mat1" : "self") == output_of(*parts.before) &&
        input_of(*parts.after, "self") == output_of(*parts.product)));
  return chained ? std::optional(parts) : std::nullopt;
}

bool Importer::belongs_to(const std::string& path, const ModuleCall& module) const {
  return std::ranges::any_of(
      ir::names_of(path, graph_.tensors.at(path)),
      [&](const std::string& name) { return name.starts_with(module.path + "."); });
}

bool Importer::register_module(const ir::Module& module) {
  const auto [found, added] = graph_.modules.emplace(module.path, module);
  return added || (found->second.op == module.op && found->second.attributes == module.attributes &&
                   found->second.tensors == module.tensors);
}

std::optional<Call> Importer::linear_call(const std::vector<const Node*>& nodes) {
  const auto parts = linear_parts(nodes);
  if (!parts || !are_for_each_other(*parts) || is_read_elsewhere(nodes)) return std::nullopt;
  const Node& last = parts->after ? *parts->after : *parts->product;
  Call call{"aten::linear", ir::find_schema("aten::linear"), {}, &last};
  call.args = {{"input", value_of(parts->data())},
               {"weight", value_of(input_of(*parts->transpose, "self"))}};
  if (parts->has_bias) call.args.push_back({"bias", value_of(input_of(*parts->product, "self"))});
  return call;
}

bool Importer::are_for_each_other(const LinearParts& parts) const {
  const auto same = [](const SymInt& one, const SymInt& other) {
    return one.expression == other.expression && one.value == other.value;
  };
  if (!is_transpose(*parts.transpose)) return false;
  if (!parts.before) return true;
  // The views flatten all dimensions but the last one, and restore them.
  const auto data = sizes_of(parts.data()), matrix = sizes_of(output_of(*parts.before)),
             result = sizes_of(output_of(*parts.after));
  return matrix.size() == 2 && data.size() == result.size() && !data.empty() &&
         same(matrix[1], data.back()) &&
         std::equal(data.begin(), data.end() - 1, result.begin(), same);
}

bool Importer::is_read_elsewhere(const std::vector<const Node*>& nodes) const {
  return std::ranges::any_of(nodes, [&](const Node* node) {
    const auto uses = uses_.find(output_of(*node));
    return node != nodes.back() && uses != uses_.end() &&
           std::ranges::any_of(uses->second, [&](std::size_t user) {
             return user >= program_.nodes.size() ||
                    std::ranges::find(nodes, &program_.nodes[user]) == nodes.end();
           });
  });
}

bool Importer::import_layer(Range range, const ModuleCall& module) {
  std::vector<const Node*> nodes;
  for (std::size_t i = range.begin; i < range.end; ++i)
    if (!is_assertion(program_.nodes[i]) && !is_state(program_.nodes[i]) &&
        !is_size(program_.nodes[i]))
      nodes.push_back(&program_.nodes[i]);
  // The layer may read sizes that were computed in it, and others are sizes of its result.
  const auto import_sizes = [&](bool all) {
    for (std::size_t i = range.begin; i < range.end; ++i)
      if (const Node& node = program_.nodes[i];
          is_size(node) && !early_sizes_.contains(&node) && (all || has_inputs(node))) {
        import_node(node);
        early_sizes_.insert(&node);
      }
    return true;
  };
  if (nodes.empty()) return import_sizes(true);
  import_sizes(false);
  bool found = false;
  with_place(*nodes.back(), [&] { found = import_layer_of(nodes, module); });
  return found && import_sizes(true);
}

bool Importer::has_inputs(const Node& node) const {
  return std::ranges::all_of(node.inputs, [&](const NodeArgument& input) {
    return std::ranges::all_of(names_in(input.value), [&](const std::string& name) {
      return slots_.contains(memory_of(name));
    });
  });
}

bool Importer::import_layer_of(const std::vector<const Node*>& nodes, const ModuleCall& module) {
  if (import_recurrent(nodes, module)) return true;
  std::optional<Call> call = linear_call(nodes);
  if (!call) call = batched_linear_call(nodes);
  if (!call) call = activation_call(nodes);
  if (nodes.size() == 1) {
    call = call_of(*nodes[0]);
    use_pooling(*call, module);
  }
  return call && call->schema && add_layer(std::move(*call), module);
}

bool Importer::add_layer(Call call, const ModuleCall& module) {
  if (!is_of_class(call, module)) return false;
  const Node& source = *call.node;
  const bool in_place = changes_memory(call);
  std::string memory;
  if (in_place) memory = take_out_of_place(call);
  ir::Module layer{module.path, module.class_name, call.op, {}, {}};
  ir::Node node;
  for (ir::Argument& argument : all_arguments(call)) {
    const ir::Value& value = argument.value;
    if (value.kind() == ir::Value::Kind::string && value.as_string().starts_with('@')) {
      const std::string path = value.as_string().substr(1);
      if (!belongs_to(path, module)) return false;
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
  if (in_place) {
    const ir::ValueInfo before = graph_.node(slot(memory).value.node()).info;
    bind_in_place(source, memory, add(std::move(node), source), before);
  } else {
    note_memory(call);
    bind_results(source, add(std::move(node), source));
  }
  return true;
}

}  // namespace mase::pt2
