// SPDX-License-Identifier: Apache-2.0
// Nodes of the program in their order: assertions, layers, subscripts and calls.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/op_table.hpp"
#include "pt2/fields.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// Operators that only check sizes, or say something about them.
constexpr std::string_view assertions[] = {"aten::_assert_scalar", "aten::_assert_tensor_metadata",
                                           "aten::_assert_async.msg", "aten::sym_constrain_range",
                                           "aten::sym_constrain_range_for_size"};

/// Comparisons of sizes; only assertions read them.
constexpr std::string_view comparisons[] = {"_operator.eq",   "_operator.ne", "_operator.ge",
                                            "_operator.gt",   "_operator.le", "_operator.lt",
                                            "_operator.and_", "_operator.or_"};

template <std::size_t N>
bool is_among(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

std::string layer_text(const Node& node) {
  return node.modules.empty() || node.modules.back().path.empty()
             ? ""
             : " in '" + node.modules.back().path + "'";
}

/// Puts a number in the place of a tensor into the overload that takes one: div.Tensor(x, 2.0) is
/// div.Scalar(x, 2.0).
void use_scalar_overload(Call& call) {
  const std::size_t dot = call.op.find(".Tensor");
  if (dot == std::string::npos || call.args.size() < 2 || !call.args[1].value.is_number()) return;
  std::string scalar = call.op;
  scalar.replace(dot, 7, ".Scalar");
  if (const ir::OpSchema* schema = ir::find_schema(scalar)) {
    call.op = scalar;
    call.schema = schema;
  }
}

/// One number where the default is a list of the same numbers.
bool equals_default(const ir::SchemaArgument& formal, const ir::Value& value) {
  if (!formal.has_default) return false;
  if (value == formal.fallback) return true;
  if (!formal.is_list() || value.kind() != ir::Value::Kind::list) return false;
  const bool one = formal.fallback.is_number();
  return one && std::ranges::all_of(value.items(),
                                    [&](const ir::Value& item) { return item == formal.fallback; });
}

/// The arguments that differ from the defaults, in the order of the signature.
void drop_defaults(Call& call) {
  if (!call.schema) return;
  std::vector<ir::Argument> kept;
  for (const ir::SchemaArgument& formal : call.schema->arguments)
    for (ir::Argument& argument : call.args)
      if (argument.name == formal.name && !equals_default(formal, argument.value))
        kept.push_back(std::move(argument));
  call.args = std::move(kept);
}

}  // namespace

void Importer::refuse(const Node& node, const std::string& reason) const {
  unsupported_error(node.target + layer_text(node) +
                    (node.place.empty() ? "" : " at " + node.place) + ": " + reason);
}

bool Importer::is_assertion(const Node& node) const {
  return is_among(assertions, operator_of(node.target)) || is_among(comparisons, node.target);
}

bool Importer::is_used_outside(Range range, const std::string& name) const {
  const auto found = uses_.find(name);
  return found != uses_.end() && std::ranges::any_of(found->second, [&](std::size_t node) {
           return node < range.begin || node >= range.end;
         });
}

void Importer::import_range(Range range, std::size_t level) {
  const std::vector<Node>& nodes = program_.nodes;
  for (std::size_t i = range.begin; i < range.end;) {
    const std::vector<ModuleCall>& modules = nodes[i].modules;
    const auto first =
        modules.begin() + static_cast<std::ptrdiff_t>(std::min(level, modules.size()));
    const auto layer = std::find_if(first, modules.end(), [](const ModuleCall& one) {
      return ir::find_module_class(one.class_name) != nullptr;
    });
    if (layer == modules.end()) {
      Range subscript{i, i + 1};
      const PythonCall& function = nodes[i].function;
      while (subscript.end < range.end && function.name == "__getitem__" &&
             nodes[subscript.end].function.call == function.call)
        ++subscript.end;
      if (function.name != "__getitem__" || !import_subscript(subscript))
        for (std::size_t k = subscript.begin; k < subscript.end; ++k) import_node(nodes[k]);
      i = subscript.end;
      continue;
    }
    const auto place = static_cast<std::size_t>(layer - modules.begin());
    Range of_layer{i, i + 1};
    while (of_layer.end < range.end && nodes[of_layer.end].modules.size() > place &&
           nodes[of_layer.end].modules[place].call == layer->call)
      ++of_layer.end;
    if (!import_layer(of_layer, *layer)) import_range(of_layer, place + 1);
    i = of_layer.end;
  }
}

void Importer::import_node(const Node& node) {
  if (is_assertion(node)) return;
  try {
    add_call(call_of(node));
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(node.target)) throw;
    throw Error(error.fault(), node.target + layer_text(node) +
                                   (node.place.empty() ? "" : " at " + node.place) + ": " +
                                   message);
  }
}

void Importer::add_call(Call call) {
  if (is_among({"aten::lift_fresh_copy", "aten::lift_fresh"}, call.op)) {
    const ir::Value& same = call.args.at(0).value;
    Slot slot;
    if (same.is_node())
      slot.value = same;
    else
      slot.path = same.as_string().substr(1);
    define(names_in(call.node->outputs.at(0)).at(0), std::move(slot));
    return;
  }
  if (!ir::is_allowed(call.op)) refuse(*call.node, ir::not_allowed(call.op));
  use_scalar_overload(call);
  drop_defaults(call);
  for (ir::Argument& argument : call.args) read_tensors(argument.value);
  const Spelling spelling = spelling_of(call.op, *call.node);
  ir::Node node;
  node.kind = spelling.kind;
  node.target = spelling.target;
  node.op = call.op;
  node.args = std::move(call.args);
  bind_results(*call.node, add(std::move(node), *call.node));
}

ir::NodeId Importer::add(ir::Node node, const Node& source) {
  if (static_cast<std::int64_t>(graph_.order().size()) >= options_.most_nodes)
    unsupported_error("the graph would have more than " + std::to_string(options_.most_nodes) +
                      " nodes; --most-operators N allows more");
  const ir::NodeId id = graph_.add(std::move(node));
  const auto info = ir::infer(graph_, graph_.node(id), known_);
  if (!info) refuse(source, "the shape of its result is not known");
  graph_.node(id).info = *info;
  if (const auto number = ir::host_integer(graph_, graph_.node(id), known_))
    known_.integers[id] = *number;
  return id;
}

void Importer::bind_results(const Node& node, ir::NodeId id) {
  std::vector<const Tree*> results;
  for (const Tree& output : node.outputs) {
    const UnionValue one = union_of(output, "an output");
    if (!one.value.is_list())
      results.push_back(&output);
    else
      for (const Tree& item : one.value.as_list()) results.push_back(&item);
  }
  const ir::ValueInfo& info = graph_.node(id).info;
  const bool single =
      info.kind != ir::ValueInfo::Kind::tuple && info.kind != ir::ValueInfo::Kind::list;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Tree* name = results[i]->find("name");
    const std::vector<std::string> names =
        name ? std::vector{name->as_string()} : names_in(*results[i]);
    if (names.empty()) continue;
    if (single) {
      define(names[0], {ir::NodeRef{id}, ""});
      continue;
    }
    if (!uses_.contains(names[0])) continue;
    ir::Node item;
    item.kind = ir::NodeKind::call_function;
    item.target = "_operator.getitem";
    item.op = "mase::getitem";
    item.args = {{"value", ir::NodeRef{id}}, {"index", static_cast<std::int64_t>(i)}};
    define(names[0], {ir::NodeRef{add(std::move(item), node)}, ""});
  }
}

}  // namespace mase::pt2
