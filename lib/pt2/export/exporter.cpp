// SPDX-License-Identifier: Apache-2.0
// The export as a whole: tensors, inputs, outputs and the document.
#include "pt2/export/exporter.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/naming.hpp"

namespace mase::pt2 {
namespace {

/// The schema of torch/_export/serde/schema.py, and a version of PyTorch that writes it in an
/// archive of this layout.
constexpr std::int64_t schema_major = 8, schema_minor = 8, aten_opset = 10;
constexpr std::string_view layout_version = "2.8.0";

Tree leaf_spec() {
  return Tree(Tree::Dict{{"type", Tree()}, {"context", Tree()}, {"children_spec", Tree::list()}});
}

Tree container_spec(std::string_view type, std::string context, Tree::List children) {
  return Tree(Tree::Dict{{"type", type},
                         {"context", std::move(context)},
                         {"children_spec", Tree(std::move(children))}});
}

/// The text of a treespec, whose protocol has version 1.
std::string spec_text(const Tree& spec) { return to_json(Tree(Tree::List{1, spec}), -1); }

Tree spec_of(const Result& result, bool is_tuple) {
  if (result.kind != Result::Kind::items) return leaf_spec();
  Tree::List children;
  for (const Result& item : result.items) children.push_back(spec_of(item, true));
  if (!result.keys.empty())
    return container_spec("builtins.dict", to_json(Tree::list_of(result.keys), -1),
                          std::move(children));
  return container_spec(is_tuple ? "builtins.tuple" : "builtins.list", "null", std::move(children));
}

}  // namespace

Tree union_tree(std::string_view kind, Tree value) {
  return Tree(Tree::Dict{{std::string(kind), std::move(value)}});
}

Tree name_tree(const std::string& name) { return union_tree("name", name); }

Exporter::Exporter(const ir::Graph& graph)
    : expanded_(expand_operators(ir::without_leaf_bodies(graph))),
      graph_(expanded_.graph),
      sizes_(graph_) {
  find_containers();
}

std::string Exporter::unique(const std::string& wanted) {
  const std::string stem = ir::sanitized_name(wanted);
  std::string name = stem;
  for (int i = 1; !names_.insert(name).second; ++i) name = stem + "_" + std::to_string(i);
  return name;
}

void Exporter::add_tensor(const std::string& path, const std::string& name) {
  const ir::Tensor& tensor = graph_.tensors.at(path);
  const bool constant = expanded_.constants.contains(path);
  const std::string kind = constant              ? "tensor_constant"
                           : tensor.is_parameter ? "parameter"
                                                 : "buffer";
  const std::string own = unique(kind.substr(constant ? 7 : 0, 1) + "_" + name);
  tensor_names_.emplace(path, own);
  const bool grad = tensor.is_parameter && tensor.requires_grad;
  tensor_values_[own] = tensor_meta(tensor.value.dtype(), tensor.value.shape(), grad);
  inputs_.push_back(union_tree("as_tensor", name_tree(own)));
  Tree spec(Tree::Dict{{"arg", name_tree(own)}, {kind + "_name", name}});
  if (kind == "buffer") spec["persistent"] = true;
  input_specs_.push_back(union_tree(kind, std::move(spec)));
}

void Exporter::add_tensors() {
  for (const std::string& path : graph_.tensor_order)
    if (const auto tensor = graph_.tensors.find(path); tensor != graph_.tensors.end())
      for (const std::string& name : ir::names_of(path, tensor->second)) add_tensor(path, name);
}

void Exporter::add_inputs() {
  Tree::List specs;
  for (const ir::NodeId id : graph_.placeholders()) {
    const ir::Node& node = graph_.node(id);
    if (!node.info.is_tensor())
      unsupported_error("the input '" + node.target +
                        "' is not a tensor; only tensors can be inputs");
    const std::string name = unique(node.target);
    results_[id] = Result::of(Result::Kind::tensor, name);
    tensor_values_[name] = sizes_.tensor_meta(id, {}, false);
    const Tree arg = union_tree("as_tensor", name_tree(name));
    inputs_.push_back(arg);
    input_specs_.push_back(union_tree("user_input", union_tree("arg", arg)));
    argument_names_.push_back(name);
    specs.push_back(leaf_spec());
  }
  in_tree_ = container_spec("builtins.tuple", "null",
                            {container_spec("builtins.tuple", "null", std::move(specs)),
                             container_spec("builtins.dict", "[]", {})});
}

/// All nodes that have no counterpart are named at once.
void Exporter::add_nodes() {
  std::vector<std::string> refused;
  for (const ir::NodeId id : graph_.order()) {
    const ir::Node& node = graph_.node(id);
    try {
      add_node(node);
    } catch (const Error& error) {
      if (error.fault() != Fault::unsupported) throw;
      refused.push_back("  " + node.name + " (" + node.op + "): " + error.what());
      results_[id] = Result::of(Result::Kind::tensor, node.name);
    }
  }
  if (!refused.empty())
    unsupported_error("an exported program cannot say " + counted(refused.size(), "node") +
                      " of the graph:\n" + join(refused, "\n"));
}

void Exporter::add_output(const Result& result) {
  if (result.kind == Result::Kind::items) {
    for (const Result& item : result.items) add_output(item);
    return;
  }
  const bool none = result.kind == Result::Kind::constant && result.constant.is_none();
  if (result.kind != Result::Kind::tensor && !none)
    unsupported_error("an output of the graph is not a tensor; only tensors can be outputs");
  const Tree arg =
      none ? union_tree("as_none", true) : union_tree("as_tensor", name_tree(result.name));
  outputs_.push_back(arg);
  output_specs_.push_back(union_tree("user_output", union_tree("arg", arg)));
}

void Exporter::add_outputs() {
  MASE_CHECK(graph_.output() != ir::no_node, "a graph without an output");
  const ir::Value& value = graph_.node(graph_.output()).args.at(0).value;
  const Result all = result(value);
  add_output(all);
  out_tree_ = spec_of(all, value.kind() != ir::Value::Kind::list);
}

Tree Exporter::call_graph() const {
  Tree signature = Tree::dict();
  signature["inputs"] = signature["outputs"] = Tree::list();
  signature["in_spec"] = spec_text(in_tree_);
  signature["out_spec"] = spec_text(out_tree_);
  signature["forward_arg_names"] = Tree::list_of(argument_names_);
  Tree calls(Tree::List{Tree(Tree::Dict{{"fqn", ""}, {"signature", std::move(signature)}})});
  std::set<std::string> paths;
  for (const auto& [path, class_name] : graph_.containers) paths.insert(path);
  for (const auto& [path, module] : graph_.modules) paths.insert(path);
  for (const std::string& path : paths)
    if (!path.empty()) calls.push_back(Tree(Tree::Dict{{"fqn", path}, {"signature", Tree()}}));
  return calls;
}

Tree Exporter::document() const {
  Tree graph = Tree::dict();
  graph["inputs"] = Tree(inputs_);
  graph["outputs"] = Tree(outputs_);
  graph["nodes"] = Tree(nodes_);
  graph["tensor_values"] = tensor_values_;
  graph["sym_int_values"] = size_values_;
  for (const char* key : {"sym_bool_values", "custom_obj_values", "sym_float_values"})
    graph[key] = Tree::dict();
  graph["is_single_tensor_return"] = false;
  Tree module = Tree::dict();
  module["graph"] = std::move(graph);
  module["signature"] =
      Tree(Tree::Dict{{"input_specs", Tree(input_specs_)}, {"output_specs", Tree(output_specs_)}});
  module["module_call_graph"] = call_graph();
  module["metadata"] = module["treespec_namedtuple_fields"] = Tree::dict();
  Tree program = Tree::dict();
  program["graph_module"] = std::move(module);
  program["opset_version"] = union_tree("aten", aten_opset);
  program["range_constraints"] = sizes_.ranges();
  program["schema_version"] = Tree(Tree::Dict{{"major", schema_major}, {"minor", schema_minor}});
  program["verifiers"] = Tree(Tree::List{"TRAINING"});
  program["torch_version"] = layout_version;
  program["guards_code"] = Tree::list();
  return program;
}

std::vector<FreeSize> Exporter::free_sizes() const {
  std::vector<FreeSize> all;
  for (const Axis& axis : sizes_.axes()) {
    FreeSize& one = all.emplace_back();
    one.symbol = axis.symbol;
    one.least = axis.least;
    one.most = axis.most;
    for (const Place& place : axis.places)
      one.places.emplace_back(graph_.node(place.input).target, place.dim);
  }
  return all;
}

Tree Exporter::run() {
  add_tensors();
  add_inputs();
  add_nodes();
  add_outputs();
  return document();
}

}  // namespace mase::pt2
