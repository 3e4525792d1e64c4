// SPDX-License-Identifier: Apache-2.0
// Writes inputs, tensors, nodes and outputs of a graph in order.
#include "onnx/export/exporter.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/op_table.hpp"
#include "ir/tensor_readers.hpp"
#include "onnx/export/rows.hpp"
#include "onnx/stored_graph.hpp"

namespace mase::onnx {
namespace {

/// The version of the file's structure that has all that the opsets need.
constexpr std::int64_t ir_version_of(std::int64_t opset) { return opset >= 23 ? 11 : 10; }

/// What tells an initializer from others.
std::string content_of(ElementType type, const Array& array) {
  return element_name(type) + shape_text(array.shape()) +
         std::string(reinterpret_cast<const char*>(array.bytes()), array.byte_size());
}

/// "['', 'block', 'block.0']", as torch.onnx writes lists.
std::string python_list(const Names& items) {
  Names quoted;
  for (const std::string& item : items) quoted.push_back("'" + item + "'");
  return "[" + join(quoted, ", ") + "]";
}

/// The pass that takes a node apart; "" if none does.
std::string expanding_pass(const ir::Graph& graph, const ir::Node& node) {
  const ir::OpRow* row = ir::classify(graph, node).row;
  return row ? std::string(row->expanded_by) : "";
}

}  // namespace

Exporter::Exporter(const ir::Graph& graph, const ExportOptions& options, bool batch_alone)
    : graph_(graph),
      options_(options),
      symbols_(graph, batch_alone),
      dialect_(dialect_of(options.dialect)),
      masks_(graph) {}

void Exporter::lose(const std::string& port, const formats::Format& format,
                    const std::string& reason) {
  losses_.push_back(port + " (" + format.short_text() + "): " + reason);
}

const Names& Exporter::values(ir::NodeId id) const {
  const auto found = values_.find(id);
  MASE_CHECK(found != values_.end(), "a value is read before it is written");
  return found->second;
}

std::string Exporter::unique(const std::string& wanted) {
  std::string name = wanted;
  while (!names_.insert(name).second) name = wanted + "_" + std::to_string(++counts_[wanted]);
  return name;
}

std::string Exporter::initializer(const std::string& path) { return path; }

std::string Exporter::constant(Array array, ElementType type) {
  const std::string content = content_of(type, array);
  const auto known = constant_names_.find(content);
  if (known != constant_names_.end()) return known->second;
  const std::string name = unique("constant_" + std::to_string(constants_.size()));
  constant_names_.emplace(content, name);
  constants_.emplace(name, array);
  model_.graph.initializers.push_back({name, type, std::move(array), "", {}});
  return name;
}

std::string Exporter::initializer(const std::string& wanted, ElementType type, Array array) {
  std::string& name = initializer_names_[wanted + " " + content_of(type, array)];
  if (!name.empty()) return name;
  name = unique(wanted);
  model_.graph.initializers.push_back({name, type, std::move(array), "", {}});
  return name;
}

/// What torch.onnx tells of the module that a node came from.
void Exporter::name_scope(const ir::Node& from, Node& node) {
  std::string path;
  if (from.kind == ir::NodeKind::call_module) path = from.target;
  std::string name = scope_prefix(path) + node.op;
  const std::string stem = name;
  for (int i = 1; !node_names_.insert(name).second; i = ++counts_[stem])
    name = stem + "_" + std::to_string(i);
  node.name = name;
  if (path.empty()) return;
  Names paths{""}, classes{graph_.containers.contains("") ? graph_.containers.at("") : ""};
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
    const std::string owner = path.substr(0, dot);
    const auto known = graph_.containers.find(owner);
    paths.push_back(owner);
    classes.push_back(known == graph_.containers.end() ? "" : known->second);
  }
  paths.insert(paths.end(), {path, node.name});
  classes.insert(classes.end(), {graph_.module_of(from).class_name, from.op});
  node.metadata.emplace_back("pkg.torch.onnx.name_scopes", python_list(paths));
  node.metadata.emplace_back("pkg.torch.onnx.class_hierarchy", python_list(classes));
}

void Exporter::add(const ir::Node& from, std::string_view op, const Names& inputs,
                   const Names& outputs, Attributes attributes, std::string_view domain) {
  Node node;
  node.op = op;
  node.domain = domain;
  node.inputs = inputs;
  node.outputs = outputs;
  node.attributes = std::move(attributes);
  name_scope(from, node);
  for (const std::string& output : outputs) writers_.emplace(output, model_.graph.nodes.size());
  model_.graph.nodes.push_back(std::move(node));
}

const Node* Exporter::writer_of(const std::string& value) const {
  const auto found = writers_.find(value);
  return found == writers_.end() ? nullptr : &model_.graph.nodes[found->second];
}

ValueInfo Exporter::value_info(const std::string& name, ir::NodeId id) const {
  const ir::ValueInfo& info = graph_.node(id).info;
  ValueInfo value;
  value.name = name;
  if (info.kind == ir::ValueInfo::Kind::integer) {
    value.type = ElementType::int64;
    value.shape.emplace();
    return value;
  }
  if (!info.is_tensor())
    unsupported_error("node '" + graph_.node(id).name + "': only tensors can be inputs or outputs");
  value.type = element_of(info.dtype);
  value.shape = symbols_.dimensions(id);
  return value;
}

void Exporter::add_inputs() {
  for (const ir::NodeId id : graph_.placeholders()) {
    const std::string name = unique(graph_.node(id).target);
    model_.graph.inputs.push_back(value_info(name, id));
    define(id, {name});
  }
}

void Exporter::add_tensors() {
  const std::map<std::string, int> uses = ir::tensor_uses(graph_);
  for (const std::string& path : graph_.tensor_order) {
    const auto tensor = graph_.tensors.find(path);
    if (tensor == graph_.tensors.end()) continue;
    const Array& value = tensor->second.value;
    if (!uses.contains(path) && store_counter(path, value, model_)) continue;
    model_.graph.initializers.push_back({path, element_of(value.dtype()), value, "", {}});
  }
}

void Exporter::add_node(const ir::Node& node) {
  if (node.kind == ir::NodeKind::get_attr) return define(node.id, {initializer(node.target)});
  const ExportRow* row = find_export_row(node.op);
  if (!row) {
    const std::string pass = expanding_pass(graph_, node);
    unsupported_error("ONNX has no such operator" +
                      (pass.empty() ? "" : "; the pass " + pass + " writes it in terms of others"));
  }
  NodeWriter writer(*this, node);
  const std::size_t first = model_.graph.nodes.size();
  row->write(writer);
  if (model_.graph.nodes.size() > first) describe(node);
  writer.finish_formats();
}

/// The last node gives the result; it is the one of the file from which the graph's node came.
void Exporter::describe(const ir::Node& node) {
  Node& last = model_.graph.nodes.back();
  set_source(node.source, last);
  const std::string name = name_in_file(node.source);
  if (!name.empty() && node_names_.insert(name).second) last.name = name;
}

/// All nodes that cannot be exported are named at once.
void Exporter::add_nodes() {
  Names refused;
  for (const ir::NodeId id : graph_.order()) {
    const ir::Node& node = graph_.node(id);
    if (node.kind == ir::NodeKind::placeholder) NodeWriter(*this, node).finish_formats();
    if (node.kind == ir::NodeKind::placeholder || node.kind == ir::NodeKind::output) continue;
    const std::size_t first = model_.graph.nodes.size();
    try {
      add_node(node);
    } catch (const Error& error) {
      if (error.fault() != Fault::unsupported) throw;
      refused.push_back("  " + node.name + " (" + node.op + "): " + error.what());
      define(id, Names(leaves(node.info), node.name));
    }
    runs_.push_back({node.name, first, model_.graph.nodes.size()});
  }
  if (!refused.empty())
    unsupported_error("ONNX cannot say " + std::to_string(refused.size()) +
                      (refused.size() == 1 ? " node" : " nodes") + " of the graph:\n" +
                      join(refused, "\n"));
}

void Exporter::mark_nodes() {
  for (const Run& run : runs_)
    onnx::mark_nodes(std::span(model_.graph.nodes).subspan(run.first, run.end - run.first),
                     run.name, constants_);
}

/// Tensors that quantized ones have replaced.
void Exporter::remove_unread_tensors() {
  std::set<std::string> read;
  for (const Node& node : model_.graph.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  std::erase_if(model_.graph.initializers,
                [&](const Tensor& tensor) { return !read.contains(tensor.name); });
}

/// Gives computed values that are outputs the names that these have in the graph.
void Exporter::name_outputs() {
  std::unordered_map<std::string, std::string> renamed;
  for (const auto& [id, name] : outputs_)
    if (const Names& value = values(id); !name.empty() && value.size() == 1 && writer_of(value[0]))
      if (renamed.emplace(value[0], name).second) writers_[name] = writers_.at(value[0]);
  const auto rename = [&](std::string& value) {
    if (const auto found = renamed.find(value); found != renamed.end()) value = found->second;
  };
  if (renamed.empty()) return;
  for (Node& node : model_.graph.nodes) {
    std::ranges::for_each(node.inputs, rename);
    std::ranges::for_each(node.outputs, rename);
  }
  for (auto& [id, names] : values_) std::ranges::for_each(names, rename);
}

/// Inputs, tensors and values that are outputs already get another name as an output.
void Exporter::add_output(const NamedOutput& output) {
  const Names& value = values(output.node);
  if (value.size() != 1)
    unsupported_error("node '" + graph_.node(output.node).name +
                      "' is a list; only tensors can be outputs");
  const auto& outputs = model_.graph.outputs;
  std::string name = value[0];
  if (!writer_of(name) || std::ranges::find(outputs, name, &ValueInfo::name) != outputs.end()) {
    name = output.name.empty() ? unique(name + "_output") : output.name;
    add(graph_.node(graph_.output()), "Identity", {value[0]}, {name}, {});
  }
  model_.graph.outputs.push_back(value_info(name, output.node));
}

void Exporter::add_outputs() {
  MASE_CHECK(graph_.output() != ir::no_node, "a graph without an output");
  for (const NamedOutput& output : outputs_) add_output(output);
  if (model_.graph.outputs.empty()) unsupported_error("the graph has no output that is a tensor");
}

Model Exporter::run() {
  model_.ir_version = ir_version_of(opset());
  model_.opsets = {{"", opset()}};
  if (options_.dialect == FormatDialect::qonnx) model_.opsets[std::string(qonnx_domain)] = 1;
  model_.producer = "mase";
  model_.producer_version = options_.producer_version;
  model_.graph.name = graph_.name;
  for (const std::string& path : graph_.tensor_order) names_.insert(path);
  add_inputs();
  for (const NamedOutput& one : outputs_of(graph_))
    outputs_.push_back({one.node, one.name.empty() ? "" : unique(one.name)});
  add_tensors();
  add_nodes();
  name_outputs();
  if (!dialect_) mark_nodes();
  add_outputs();
  set_source(graph_.source, model_);
  if (!losses_.empty() && !options_.allow_loss)
    unsupported_error("the file cannot say " + std::to_string(losses_.size()) +
                      (losses_.size() == 1 ? " format" : " formats") + " of the graph:\n  " +
                      join(losses_, "\n  ") +
                      "\n--allow-loss leaves them out: tensors have rounded values, and what is "
                      "computed stays float");
  if (dialect_)
    remove_unread_tensors();
  else
    store_graph(graph_, model_);
  return std::move(model_);
}

std::set<std::string> passes_before_export(const ir::Graph& graph) {
  std::set<std::string> passes;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (find_export_row(node.op) || !node.formats.empty()) continue;
    const std::string pass = expanding_pass(graph, node);
    if (!pass.empty()) passes.insert(pass);
  }
  return passes;
}

ExportNotes Exporter::notes() const {
  ExportNotes notes{losses_, {}};
  for (const auto& [id, values] : values_) notes.results.emplace(graph_.node(id).name, values);
  return notes;
}

Model export_model(const ir::Graph& graph, const ExportOptions& options, ExportNotes* notes) {
  if (options.opset < oldest_export_opset || options.opset > newest_export_opset)
    config_error("opset " + std::to_string(options.opset) + ": exports are in opsets " +
                 std::to_string(oldest_export_opset) + " to " +
                 std::to_string(newest_export_opset));
  ir::Graph flat = ir::without_leaf_bodies(graph);
  // The text that the file holds of the graph must say what its nodes do.
  if (options.dialect == FormatDialect::none)
    for (const ir::NodeId id : flat.order()) flat.node(id).formats.clear();
  const auto run = [&](bool batch_alone) {
    Exporter exporter(flat, options, batch_alone);
    Model model = exporter.run();
    if (notes) *notes = exporter.notes();
    return model;
  };
  try {
    return run(false);
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported || Symbols(flat, false).count() < 2) throw;
    return run(true);
  }
}

}  // namespace mase::onnx
