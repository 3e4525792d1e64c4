// SPDX-License-Identifier: Apache-2.0
// Reads a model's inputs, tensors and nodes in order.
#include "onnx/import/importer.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/naming.hpp"
#include "onnx/import/annotations.hpp"
#include "onnx/import/call.hpp"
#include "onnx/import/functions.hpp"
#include "onnx/import/place_formats.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"
#include "onnx/source.hpp"

namespace mase::onnx {
namespace {

/// A tensor path of the graph for a name of the file: letters, digits, '_', '-' and inner dots.
std::string path_of(std::string_view name) {
  std::string path;
  for (const char one : name) {
    const bool plain =
        is_identifier_char(one) || (one == '.' && !path.empty() && path.back() != '.');
    path += plain ? one : '_';
  }
  while (path.ends_with('.')) path.pop_back();
  return path.empty() ? "_tensor_constant" : path;
}

/// The operands of a call with their shapes.
std::string operands_text(Call& call) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < call.count(); ++i)
    if (call.has(i))
      texts.push_back("'" + call.node().inputs[i] + "' is " + shape_text(call.shape(i)));
  return join(texts, ", ");
}

}  // namespace

Importer::Importer(const Model& model, const ImportOptions& options)
    : model_(model),
      options_(options),
      worlds_(imported_.graph),
      scopes_(model.graph),
      restorer_(*this, model) {
  opsets_.push_back(&model.opsets);
}

std::int64_t Importer::opset(const std::string& domain) const {
  const auto found = opsets_.back()->find(domain);
  return found == opsets_.back()->end() ? 0 : found->second;
}

Operand* Importer::find(std::string_view name) {
  const auto found = operands_.find(std::string(name));
  return found == operands_.end() ? nullptr : &found->second;
}

void Importer::define(const std::string& name, Operand operand) {
  if (!operands_.emplace(name, std::move(operand)).second)
    file_error(path() + ": the name '" + name + "' is given to two values");
}

int Importer::uses(const std::string& name) const {
  const auto found = uses_.find(name);
  return found == uses_.end() ? 0 : found->second;
}

const std::string& Importer::store(Constant& constant, std::string_view wanted) {
  if (!constant.path.empty()) return constant.path;
  const std::string base = path_of(wanted);
  std::string path = base;
  for (int i = 1; graph().tensors.contains(path); ++i) path = base + "_" + std::to_string(i);
  const bool parameter = constant.is_parameter && is_floating(constant.value.dtype()) &&
                         !path.ends_with("running_mean") && !path.ends_with("running_var");
  graph().set_tensor(path, {constant.value, parameter, parameter});
  constant.path = path;
  if (!constant.formats.empty()) formats_.emplace(path, constant.formats);
  return constant.path;
}

ir::NodeId Importer::node_of(Operand& operand, const std::string& what) {
  if (operand.node != ir::no_node) return operand.node;
  if (!operand.constant && operand.host && !operand.host->is_constant()) {
    operand.node = tensor_of(*operand.host);
    return operand.node;
  }
  if (!operand.constant) {
    MASE_CHECK(operand.host, what + " is nothing");
    operand.constant = Constant{array_of(*operand.host), "_tensor_constant", {}, false};
  }
  ir::Node node;
  node.kind = ir::NodeKind::get_attr;
  node.target = store(*operand.constant, operand.constant->name);
  operand.node = add(std::move(node));
  return operand.node;
}

ir::NodeId Importer::tensor_of(const HostTensor& sizes) {
  const auto call = [&](const char* op, ir::NodeKind kind, std::string target,
                        std::vector<ir::Argument> args) {
    ir::Node node;
    node.kind = kind;
    node.target = std::move(target);
    node.op = op;
    node.args = std::move(args);
    return add(std::move(node));
  };
  std::vector<ir::Value> items;
  for (const ir::Value& item : sizes.items)
    items.emplace_back(
        ir::NodeRef{call("aten::scalar_tensor", ir::NodeKind::call_function, "torch.scalar_tensor",
                         {{"s", item}, {"dtype", number_of(sizes.dtype)}})});
  if (sizes.shape.empty()) return items.at(0).node();
  const ir::NodeId row = call("aten::stack", ir::NodeKind::call_function, "torch.stack",
                              {{"tensors", ir::Value::list(std::move(items))}, {"dim", 0}});
  if (sizes.shape.size() == 1) return row;
  return call("aten::reshape", ir::NodeKind::call_method, "reshape",
              {{"self", ir::NodeRef{row}}, {"shape", list_of(sizes.shape)}});
}

ir::NodeId Importer::add(ir::Node node, ir::NodeId before) {
  if (static_cast<std::int64_t>(graph().order().size()) >= options_.most_nodes)
    unsupported_error(path() + ": the graph would have more than " +
                      std::to_string(options_.most_nodes) +
                      " nodes; --most-operators N allows more");
  const ir::NodeId id = graph().add(std::move(node), before);
  newest_ = id;
  worlds_.infer(id);
  check_dtype(graph().node(id).info.dtype, "a result");
  return id;
}

void Importer::check_dtype(DType dtype, const std::string& what) const {
  if (dtype == DType::uint16 || dtype == DType::uint32)
    unsupported_error(path() + ": " + what + " has elements of type " +
                      std::string(dtype_name(dtype)) + ", for which LibTorch has no arithmetic");
}

void Importer::count_uses(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) ++uses_[input];
    for (const std::string& output : node.outputs) producers_.emplace(output, node_text(node));
    for (const Attribute& attribute : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute.value))
        count_uses(**body);
  }
  for (const ValueInfo& output : graph.outputs) ++uses_[output.name];
}

void Importer::check_inputs(const Node& node) const {
  for (const std::string& input : node.inputs) {
    if (input.empty() || operands_.contains(input)) continue;
    const auto later = producers_.find(input);
    file_error(path() + ": " + node_text(node) + " reads '" + input + "', which " +
               (later == producers_.end()
                    ? "nothing gives: there is no initializer, input or result of this name"
                    : "is computed by a later one, " + later->second +
                          ": the nodes of an ONNX file must be in the order in which they run"));
  }
}

void Importer::import_node(const Node& node) {
  check_inputs(node);
  if (const Function* function = find_function(node)) return import_function(*function, node);
  const std::int64_t version = opset(node.domain);
  const Row* row = find_row(node.domain, node.op, version);
  if (!row)
    unsupported_error(path() + ": " + node_text(node) +
                      ": this operator has no counterpart in the graph" +
                      (version == 0 ? ", and the file names no opset of its domain" : "") +
                      "; `mase list onnx` has those that have one");
  Call call(*this, node, version);
  try {
    if (row->host) {
      bool known = true;
      for (std::size_t i = 0; i < call.count(); ++i)
        known = known && (!call.has(i) || call.find_host(i));
      if (known)
        if (auto result = row->host(call)) return call.result(std::move(*result));
    }
    if (row->fold && call.is_constant())
      if (auto array = row->fold(call))
        return call.result(Operand{
            .constant = Constant{std::move(*array), node.outputs.at(0), {}, call.is_parameter()}});
    if (!row->refusal.empty()) call.refuse(std::string(row->refusal));
    if (!row->import) call.refuse("its operands must be known when the model is imported");
    row->import(call);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(path())) throw;
    throw Error(error.fault(), path() + ": " + node_text(node) + ": " + message);
  } catch (const std::logic_error&) {
    // An operand or attribute has fewer dimensions or numbers than the operator reads of it.
    file_error(path() + ": " + node_text(node) +
               ": its operands or attributes do not fit it: " + operands_text(call));
  }
}

void Importer::keep_source(const Node& node, ir::NodeId id) {
  graph().node(id).source = source_of(node, graph().node(id));
}

ir::NodeId Importer::node_from(const Node& node, ir::NodeId before) {
  for (const std::string& output : node.outputs)
    if (const Operand* operand = find(output); operand && operand->node > before)
      return operand->node;
  return ir::no_node;
}

void Importer::import_body(const Graph& body) {
  add_initializers(body.initializers);
  import_nodes(body.nodes);
}

void Importer::import_nodes(const std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < nodes.size();) {
    const ir::NodeId before = newest_;
    const std::size_t restored = restorer_.import(std::span(nodes).subspan(i));
    if (restored == 0) {
      import_node(nodes[i]);
      const ir::NodeId made = find_function(nodes[i]) ? ir::no_node : node_from(nodes[i], before);
      if (made != ir::no_node) keep_source(nodes[i], made);
    }
    if (!other_batch_.empty()) made_.emplace(newest_, node_text(nodes[i]));
    i += std::max<std::size_t>(restored, 1);
  }
}

void Importer::add_initializers(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (const ElementRow* row = find_element(tensor.type); !row || !row->dtype)
      unsupported_error(path() + ": the initializer '" + tensor.name + "' has elements of type " +
                        element_name(tensor.type));
    Constant constant{.value = tensor.value, .name = tensor.name, .type = tensor.type};
    if (auto format = annotated_format(model_.graph, tensor.name))
      constant.formats.push_back(std::move(*format));
    define(tensor.name, {.constant = std::move(constant)});
  }
}

void Importer::add_output() {
  std::vector<ir::Value> results;
  ir::Value::Dict named;
  for (const ValueInfo& output : model_.graph.outputs) {
    Operand* operand = find(output.name);
    if (!operand) file_error(path() + ": nothing gives the output '" + output.name + "'");
    if (operand->items)
      unsupported_error(path() + ": the output '" + output.name +
                        "' is a sequence; make its tensors outputs by SequenceAt");
    const ir::NodeRef result{node_of(*operand, "the output '" + output.name + "'")};
    results.emplace_back(result);
    named.emplace_back(output.name, result);
  }
  if (results.empty()) file_error(path() + ": the graph has no output");
  ir::Node node;
  node.kind = ir::NodeKind::output;
  node.target = "output";
  node.name = "output";
  graph().source = source_of(model_);
  if (const ir::Value* stored = restorer_.output(results)) {
    node.args = {{"value", *stored}};
    if (const std::string name = restorer_.output_name(); !name.empty())
      name_output(graph().source, name);
  } else if (results.size() > 1) {
    node.args = {{"value", ir::Value::dict(std::move(named))}};
  } else {
    node.args = {{"value", results[0]}};
    if (named[0].first != graph().node(results[0].node()).name)
      name_output(graph().source, named[0].first);
  }
  add(std::move(node));
}

/// A checkpoint stores tensors in a tree of modules, each of which has a class.
void Importer::name_containers() {
  const auto add_owners = [&](std::string_view path) {
    for (std::string_view owner = ir::owner_of(path); !owner.empty(); owner = ir::owner_of(owner))
      if (!graph().modules.contains(std::string(owner)))
        graph().containers.emplace(owner, "torch.nn.modules.module.Module");
  };
  for (const auto& [path, tensor] : graph().tensors) add_owners(path);
  for (const auto& [path, module] : graph().modules) add_owners(path);
  graph().containers.emplace("", graph().name);
}

void Importer::align_tensors() {
  for (auto& [path, tensor] : graph().tensors) {
    Array& value = tensor.value;
    if (!value.is_aligned())
      value = Array::deferred(value.dtype(), value.shape(), [value] { return value.aligned(); });
  }
}

Imported Importer::import() {
  if (const std::int64_t version = opset(""); version > newest_opset)
    unsupported_error(path() + ": its opset is " + std::to_string(version) +
                      "; the newest that is known is " + std::to_string(newest_opset) +
                      ", to which onnx.version_converter takes it");
  if (!model_.graph.sparse_initializers.empty())
    unsupported_error(path() + ": the initializer '" + model_.graph.sparse_initializers[0] +
                      "' is a sparse tensor; store it as a dense one");
  graph().name = model_.graph.name.empty() ? "graph" : model_.graph.name;
  count_uses(model_.graph);
  add_initializers(model_.graph.initializers);
  add_inputs();
  restorer_.add_inputs();
  import_nodes(model_.graph.nodes);
  add_output();
  graph().remove_dead_nodes();
  ir::remove_unused_tensors(graph());
  restorer_.finish();
  name_containers();
  align_tensors();
  for (std::string& text : place_formats(graph(), formats_)) note(std::move(text));
  vary_batch();
  if (!worlds_.only_example().empty())
    note("the graph fits the sizes of the example only (" + worlds_.only_example() + ")");
  return std::move(imported_);
}

Imported import_model(const Model& model, const ImportOptions& options) {
  return Importer(model, options).import();
}

}  // namespace mase::onnx
