// SPDX-License-Identifier: Apache-2.0
// Trees of what a file says of its nodes, inputs and outputs, and of itself.
#include "onnx/source.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace mase::onnx {
namespace {

constexpr std::string_view own_prefix = "mase.";  ///< of metadata that an export writes by itself
constexpr std::string_view scope_keys[] = {"pkg.torch.onnx.name_scopes",
                                           "pkg.torch.onnx.class_hierarchy"};
constexpr std::string_view default_symbol = "batch";  ///< of dimension 0

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

void put_text(Tree& tree, std::string_view key, const std::string& text) {
  if (!text.empty()) tree[key] = text;
}

template <class IsKept>
void put_metadata(Tree& tree, std::string_view key, const Properties& properties, IsKept is_kept) {
  Tree kept = Tree::dict();
  for (const auto& [name, value] : properties)
    if (!name.starts_with(own_prefix) && is_kept(name)) kept[name] = value;
  if (kept.size() > 0) tree[key] = std::move(kept);
}

void put_metadata(Tree& tree, std::string_view key, const Properties& properties) {
  put_metadata(tree, key, properties, [](std::string_view) { return true; });
}

Tree null_if_empty(Tree tree) { return tree.size() == 0 ? Tree() : std::move(tree); }

/// Whether an export names the node of such a graph node so.
bool is_own_name(const Node& node, const ir::Node& of) {
  const std::string path = of.kind == ir::NodeKind::call_module ? of.target : "";
  const std::string stem = scope_prefix(path) + node.op;
  if (!node.name.starts_with(stem)) return false;
  const std::string_view rest = std::string_view(node.name).substr(stem.size());
  return rest.empty() || (rest.front() == '_' && is_number(rest.substr(1)));
}

/// The names of an input's symbols; null if an export gives them by itself.
Tree symbols_tree(const ValueInfo& value) {
  Tree symbols = Tree::list();
  bool own = true;
  for (std::size_t i = 0; value.shape && i < value.shape->size(); ++i) {
    const Dimension& dim = (*value.shape)[i];
    const bool named = !dim.size && !dim.symbol.empty();
    symbols.push_back(named ? Tree(dim.symbol) : Tree());
    own = own && (!named || (i == 0 && dim.symbol == default_symbol));
  }
  return own ? Tree() : symbols;
}

Tree value_source(const ValueInfo& value, bool is_input) {
  Tree tree = Tree::dict();
  put_text(tree, "doc", value.doc);
  put_metadata(tree, "metadata", value.metadata);
  if (Tree symbols = is_input ? symbols_tree(value) : Tree(); !symbols.is_null())
    tree["symbols"] = std::move(symbols);
  return tree;
}

/// A text of a tree that a stranger may have written; "" if it is none.
std::string text_of(const Tree& tree, std::string_view key) {
  const Tree* text = tree.is_dict() ? tree.find(key) : nullptr;
  return text && text->is_string() ? text->as_string() : "";
}

/// Adds properties that are not there yet.
void add_properties(const Tree& tree, std::string_view key, Properties& properties) {
  const Tree* given = tree.is_dict() ? tree.find(key) : nullptr;
  if (!given || !given->is_dict()) return;
  for (const auto& [name, value] : given->as_dict())
    if (value.is_string() && !find_property(properties, name))
      properties.emplace_back(name, value.as_string());
}

const Tree* find_value(const Tree& source, const std::string& name) {
  const Tree* values = source.is_dict() ? source.find("values") : nullptr;
  return values && values->is_dict() ? values->find(name) : nullptr;
}

void set_values(const Tree& source, std::vector<ValueInfo>& values) {
  for (ValueInfo& value : values) {
    const Tree* known = find_value(source, value.name);
    if (!known) continue;
    value.doc = text_of(*known, "doc");
    add_properties(*known, "metadata", value.metadata);
  }
}

}  // namespace

std::string scope_prefix(std::string_view path) {
  std::string prefix = "/", last;
  if (path.empty()) return prefix;
  for (const std::string& part : split(path, '.')) {
    prefix += (is_number(part) && !last.empty() ? last + "." + part : part) + "/";
    last = part;
  }
  return prefix;
}

Tree source_of(const Node& node, const ir::Node& of) {
  Tree tree = Tree::dict();
  if (!is_own_name(node, of)) put_text(tree, "name", node.name);
  put_text(tree, "doc", node.doc);
  const bool layer = of.kind == ir::NodeKind::call_module;  // its scopes are those of its path
  put_metadata(tree, "metadata", node.metadata, [&](std::string_view name) {
    return !layer || std::ranges::find(scope_keys, name) == std::end(scope_keys);
  });
  return null_if_empty(std::move(tree));
}

Tree source_of(const Model& model) {
  Tree tree = Tree::dict();
  put_text(tree, "doc", model.doc);
  put_metadata(tree, "metadata", model.metadata);
  put_text(tree, "domain", model.domain);
  if (model.version != 0) tree["version"] = model.version;
  put_text(tree, "graph_doc", model.graph.doc);
  put_metadata(tree, "graph_metadata", model.graph.metadata);
  Tree values = Tree::dict();
  const auto add = [&](const ValueInfo& value, bool is_input) {
    if (Tree known = value_source(value, is_input); known.size() > 0)
      values[value.name] = std::move(known);
  };
  for (const ValueInfo& input : model.graph.inputs) add(input, true);
  for (const ValueInfo& output : model.graph.outputs) add(output, false);
  if (values.size() > 0) tree["values"] = std::move(values);
  return null_if_empty(std::move(tree));
}

void name_output(Tree& source, const std::string& name) {
  if (source.is_null()) source = Tree::dict();
  source["output"] = name;
}

void set_source(const Tree& source, Node& node) {
  node.doc = text_of(source, "doc");
  add_properties(source, "metadata", node.metadata);
}

void set_source(const Tree& source, Model& model) {
  model.doc = text_of(source, "doc");
  model.domain = text_of(source, "domain");
  const Tree* version = source.is_dict() ? source.find("version") : nullptr;
  if (version && version->is_int()) model.version = version->as_int();
  add_properties(source, "metadata", model.metadata);
  model.graph.doc = text_of(source, "graph_doc");
  add_properties(source, "graph_metadata", model.graph.metadata);
  set_values(source, model.graph.inputs);
  set_values(source, model.graph.outputs);
}

std::string name_in_file(const Tree& source) { return text_of(source, "name"); }

std::vector<std::string> symbols_of(const Tree& source, const std::string& input) {
  const Tree* known = find_value(source, input);
  const Tree* symbols = known && known->is_dict() ? known->find("symbols") : nullptr;
  if (!symbols || !symbols->is_list()) return {};
  std::vector<std::string> names;
  for (const Tree& one : symbols->as_list())
    names.push_back(one.is_string() ? one.as_string() : "");
  return names;
}

std::vector<NamedOutput> outputs_of(const ir::Graph& graph) {
  std::vector<NamedOutput> outputs;
  const auto add = [&](const ir::Value& value, const std::string& name) {
    if (value.is_node()) return outputs.push_back({value.node(), name});
    value.for_each_node([&](ir::NodeId id) { outputs.push_back({id, ""}); });
  };
  const ir::NodeId output = graph.output();
  if (output == ir::no_node) return outputs;
  const ir::Value& value = graph.node(output).args.at(0).value;
  if (value.kind() != ir::Value::Kind::dict) {
    add(value, text_of(graph.source, "output"));
    return outputs;
  }
  for (const auto& [key, entry] : value.entries()) add(entry, key);
  return outputs;
}

}  // namespace mase::onnx
