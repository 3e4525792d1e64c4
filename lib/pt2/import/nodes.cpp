// SPDX-License-Identifier: Apache-2.0
// Nodes of the program in their order: assertions, layers, subscripts and calls.
#include <algorithm>
#include <limits>
#include <stdexcept>

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

constexpr std::int64_t int64_type = 4, float32_type = 6, float64_type = 7;  ///< c10::ScalarType

template <std::size_t N>
bool is_among(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

std::string layer_text(const Node& node) {
  return node.modules.empty() || node.modules.back().path.empty()
             ? ""
             : " in '" + node.modules.back().path + "'";
}

/// Whether a value is a number of the host: a constant, or a size that a node reads.
bool is_number(const ir::Graph& graph, const ir::Value& value) {
  return value.is_number() || (value.is_node() && graph.node(value.node()).info.is_number());
}

/// Puts a number in the place of a tensor into the overload that takes one: div.Tensor(x, 2.0) is
/// div.Scalar(x, 2.0).
void use_scalar_overload(const ir::Graph& graph, Call& call) {
  if (call.args.size() < 2 || !is_number(graph, call.args[1].value) || !call.schema ||
      !call.schema->arguments[1].is_tensor())
    return;
  const std::string_view base = ir::base_op(call.op);
  if (call.op != base && call.op != std::string(base) + ".Tensor") return;
  const std::string scalar = std::string(base) + ".Scalar";
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
      while (subscript.end < range.end && !function.call.empty() &&
             nodes[subscript.end].function.call == function.call &&
             nodes[subscript.end].modules.size() == modules.size())
        ++subscript.end;
      const bool whole =
          function.name == "__getitem__" ? import_subscript(subscript) : import_function(subscript);
      if (!whole)
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

bool Importer::import_function(Range range) {
  std::vector<const Node*> nodes;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Node& node = program_.nodes[i];
    if (is_size_operator(node.target) && has_inputs(node)) {
      import_node(node);
      early_sizes_.insert(&node);
      continue;
    }
    if (is_assertion(node) || is_state(node) || is_size_operator(node.target) ||
        node.outputs.empty() || names_in(node.outputs[0]).empty())
      return false;
    nodes.push_back(&node);
  }
  if (nodes.size() < 2) return false;
  bool found = false;
  with_place(*nodes.back(), [&] {
    std::optional<Call> call = linear_call(nodes);
    if (!call) call = batched_linear_call(nodes);
    if (!call) call = activation_call(nodes);
    if (call) add_call(std::move(*call));
    found = call.has_value();
  });
  return found;
}

void Importer::import_node(const Node& node) {
  if (is_assertion(node) || is_state(node) || early_sizes_.contains(&node)) return;
  with_place(node, [&] { add_call(call_of(node)); });
}

void Importer::with_place(const Node& node, const std::function<void()>& import) const {
  const std::string place =
      node.target + layer_text(node) + (node.place.empty() ? "" : " at " + node.place) + ": ";
  try {
    import();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(node.target)) throw;
    throw Error(error.fault(), place + message);
  } catch (const std::logic_error&) {
    // An argument or a result is missing that the operator has, or it is of another kind.
    file_error(place + "its arguments or results do not fit it");
  }
}

void Importer::add_call(Call call) {
  if (is_among({"aten::lift_fresh_copy", "aten::lift_fresh", "aten::detach_"}, call.op)) {
    const ir::Value& same = call.args.at(0).value;
    Slot slot;
    if (same.is_node())
      slot.value = same;
    else
      slot.path = same.as_string().substr(1);
    define(names_in(call.node->outputs.at(0)).at(0), std::move(slot));
    return;
  }
  const Node& source = *call.node;
  if (copies_itself(call)) return;
  if (changes_memory(call)) {
    const std::string memory = take_out_of_place(call);
    const ir::ValueInfo before = graph_.node(slot(memory).value.node()).info;
    return bind_in_place(source, memory, add_node(std::move(call)), before);
  }
  note_memory(call);
  bind_results(source, add_node(std::move(call)));
}

ir::NodeId Importer::add_node(Call call) {
  if (!ir::is_allowed(call.op)) refuse(*call.node, ir::not_allowed(call.op));
  use_scalar_overload(graph_, call);
  drop_defaults(call);
  for (ir::Argument& argument : call.args) read_tensors(argument.value);
  wrap_numbers(call);
  const auto recorded = recorded_.find(call.node->function.call);
  const bool alone = recorded != recorded_.end() && recorded->second == 1;
  const Spelling spelling = spelling_of(call.op, *call.node, alone);
  ir::Node node;
  node.kind = spelling.kind;
  node.target = spelling.target;
  node.op = call.op;
  node.args = std::move(call.args);
  return add(std::move(node), *call.node);
}

void Importer::wrap_numbers(Call& call) {
  const auto is_wrapped = [&](const ir::Argument& argument) {
    const ir::SchemaArgument* formal = call.schema ? call.schema->find(argument.name) : nullptr;
    return formal && formal->is_tensor() && is_number(graph_, argument.value);
  };
  for (ir::Argument& argument : call.args) {
    if (!is_wrapped(argument)) continue;
    // A number does not raise the type of a tensor of its kind, and neither does a tensor without
    // dimensions. PyTorch computes it with the precision of float64.
    bool floating = false;
    for (const ir::Argument& other : call.args)
      if (other.value.is_node() && graph_.node(other.value.node()).info.is_tensor())
        floating = floating || is_floating(graph_.node(other.value.node()).info.dtype);
    const bool integer = argument.value.kind() != ir::Value::Kind::number;
    const std::int64_t dtype = integer ? int64_type : floating ? float64_type : float32_type;
    ir::Node node;
    node.kind = ir::NodeKind::call_function;
    node.target = "torch.scalar_tensor";
    node.op = "aten::scalar_tensor";
    node.args = {{"s", argument.value}, {"dtype", dtype}};
    argument.value = ir::NodeRef{add(std::move(node), *call.node)};
  }
}

ir::NodeId Importer::add(ir::Node node, const Node& source) {
  if (static_cast<std::int64_t>(graph_.order().size()) >= options_.most_nodes)
    unsupported_error("the graph would have more than " + std::to_string(options_.most_nodes) +
                      " nodes; --most-operators N allows more");
  const ir::NodeId id = graph_.add(std::move(node));
  auto info = ir::infer(graph_, graph_.node(id), known_);
  if (!info) info = stated_info(source);
  if (!info && has_size_of_values(source))
    refuse(source,
           "the size of its result depends on values of its input; compute with tensors that keep "
           "their size, with torch.where or a product with the mask");
  if (!info) refuse(source, "the shape of its result is known for the sizes of the export only");
  graph_.node(id).info = *info;
  if (const auto number = ir::host_integer(graph_, graph_.node(id), known_))
    known_.integers[id] = *number;
  return id;
}

bool Importer::has_size_of_values(const Node& source) const {
  for (const Tree& output : source.outputs)
    for (const std::string& name : names_in(output)) {
      const auto has_no_example = [](const SymInt& size) { return !size.value; };
      if (std::ranges::any_of(sizes_of(name), has_no_example)) return true;
    }
  return false;
}

std::optional<ir::ValueInfo> Importer::stated_info(const Node& source) const {
  if (source.outputs.size() == 1 && union_of(source.outputs[0], "").kind == "as_sym_float") {
    ir::ValueInfo number;
    number.kind = ir::ValueInfo::Kind::number;
    return number;
  }
  if (!exported_sizes_) return std::nullopt;
  std::vector<ir::ValueInfo> infos;
  for (const Tree& output : source.outputs)
    for (const std::string& name : names_in(output)) {
      const auto meta = program_.tensors.find(name);
      if (meta == program_.tensors.end()) return std::nullopt;
      Shape shape;
      for (const SymInt& size : meta->second.sizes) {
        if (!size.value) return std::nullopt;
        shape.push_back(*size.value);
      }
      infos.push_back(ir::ValueInfo::tensor(meta->second.dtype, shape));
    }
  const bool list = !source.outputs.empty() && union_of(source.outputs[0], "").value.is_list();
  if (infos.empty() || (infos.size() == 1 && !list))
    return infos.empty() ? std::nullopt : std::optional(infos[0]);
  ir::ValueInfo info;
  info.kind = list ? ir::ValueInfo::Kind::list : ir::ValueInfo::Kind::tuple;
  info.elements = std::move(infos);
  return info;
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
  const std::size_t count = single ? std::min<std::size_t>(results.size(), 1) : results.size();
  for (std::size_t i = 0; i < count; ++i) {
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
