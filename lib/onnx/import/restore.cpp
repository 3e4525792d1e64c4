// SPDX-License-Identifier: Apache-2.0
// Puts stored nodes into the graph in place of the nodes of the file that say them.
#include "onnx/import/restore.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ir/tensor_readers.hpp"
#include "onnx/export.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/source.hpp"

namespace mase::onnx {

Restorer::Restorer(Importer& importer, const Model& model)
    : importer_(importer), model_(model), stored_(stored_graph(model, importer.path())) {
  if (!stored_) return;
  for (const Tensor& tensor : model.graph.initializers)
    if (!stored_->tensors.contains(tensor.name)) constants_.emplace(tensor.name, tensor.value);
  if (!export_again()) stored_.reset();
}

/// Exports the stored graph as the file was, to find the nodes that say the same; false if an
/// export is not possible.
bool Restorer::export_again() {
  const auto opset = model_.opsets.find("");
  if (opset == model_.opsets.end()) return false;
  try {
    ExportOptions options;
    options.opset = opset->second;
    ExportNotes notes;
    exported_ = marks_of(export_model(*stored_, options, &notes));
    results_ = std::move(notes.results);
  } catch (const Error&) {  // an opset or operators of another program
    return false;
  }
  return true;
}

std::optional<std::int64_t> Restorer::size_of(const std::string& input, std::size_t dim) const {
  if (!stored_) return std::nullopt;
  for (const ir::NodeId id : stored_->placeholders()) {
    const ir::Node& node = stored_->node(id);
    if (node.target == input && dim < node.info.shape.size()) return node.info.shape[dim];
  }
  return std::nullopt;
}

void Restorer::add_inputs() {
  if (!stored_) return;
  for (const ir::NodeId id : stored_->placeholders())
    for (const ir::NodeId input : importer_.graph().placeholders())
      if (importer_.graph().node(input).target == stored_->node(id).target)
        places_.emplace(id, input);
}

/// Whether a node outside of the run reads what is not among its results.
bool Restorer::is_tapped(std::span<const Node> run, const std::vector<std::string>& results) const {
  for (const Node& node : run)
    for (const std::string& output : node.outputs) {
      if (std::ranges::find(results, output) != results.end()) continue;
      std::ptrdiff_t inside = 0;
      for (const Node& one : run) inside += std::ranges::count(one.inputs, output);
      if (importer_.uses(output) != inside) return true;
    }
  return false;
}

bool Restorer::has_tensor(const std::string& path) const {
  const Operand* operand = importer_.find(path);
  const Array& stored = stored_->tensors.at(path).value;
  return operand && operand->constant && operand->constant->value.dtype() == stored.dtype() &&
         operand->constant->value.shape() == stored.shape();
}

bool Restorer::add_tensors(const ir::Node& node) {
  std::vector<std::string> paths;
  if (node.kind == ir::NodeKind::get_attr) paths.push_back(node.target);
  if (node.kind == ir::NodeKind::call_module) {
    const ir::Module& module = stored_->module_of(node);
    for (const auto& [argument, path] : module.tensors) paths.push_back(path);
    const auto known = importer_.graph().modules.find(node.target);
    if (known != importer_.graph().modules.end() && known->second.op != module.op) return false;
  }
  if (!std::ranges::all_of(paths, [&](const std::string& one) { return has_tensor(one); }))
    return false;
  for (const std::string& path : paths)
    if (importer_.store(*importer_.find(path)->constant, path) != path) return false;
  if (node.kind == ir::NodeKind::call_module)
    importer_.graph().modules.emplace(node.target, stored_->module_of(node));
  return true;
}

ir::NodeId Restorer::place_of(ir::NodeId stored) {
  if (const auto known = places_.find(stored); known != places_.end()) return known->second;
  const auto values = results_.find(stored_->node(stored).name);
  if (values == results_.end() || values->second.size() != 1) return ir::no_node;
  const std::string& name = values->second[0];
  Operand* operand = importer_.find(name);
  if (!operand || operand->host) return ir::no_node;
  return importer_.node_of(*operand, "'" + name + "'");
}

bool Restorer::add(const ir::Node& stored) {
  ir::Node node = stored;
  bool known = true;
  for (ir::Argument& argument : node.args)
    argument.value.change_nodes([&](ir::NodeId id) {
      const ir::NodeId place = place_of(id);
      known = known && place != ir::no_node;
      return ir::Value(ir::NodeRef{place});
    });
  if (!known || !add_tensors(stored)) return false;
  try {
    places_[stored.id] = importer_.add(std::move(node));
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported) throw;
    importer_.graph().erase(importer_.graph().order().back());
    return false;
  }
  return true;
}

/// The results by their names in the file, for nodes that are imported one by one.
void Restorer::define(const ir::Node& stored, const std::vector<std::string>& outputs) {
  const ir::NodeId id = places_.at(stored.id);
  const ir::ValueInfo& info = importer_.graph().node(id).info;
  if (info.kind == ir::ValueInfo::Kind::integer) {
    Operand operand{.host = HostTensor::integer(ir::NodeRef{id})};
    return importer_.define(outputs.at(0), std::move(operand));
  }
  auto next = outputs.begin();
  define(id, next);
}

/// Takes the outputs from `next` on for the leaves of a node's result.
void Restorer::define(ir::NodeId id, std::vector<std::string>::const_iterator& next) {
  const std::size_t count = importer_.graph().node(id).info.elements.size();
  if (importer_.graph().node(id).info.is_tensor()) return importer_.define(*next++, {.node = id});
  for (std::size_t i = 0; i < count; ++i) {
    ir::Node item;
    item.name = *next + "_item";  // no stored node has such a name
    item.kind = ir::NodeKind::call_function;
    item.target = "_operator.getitem";
    item.op = "mase::getitem";
    item.args = {{"value", ir::NodeRef{id}}, {"index", static_cast<std::int64_t>(i)}};
    define(importer_.add(std::move(item)), next);
  }
}

std::size_t Restorer::import(std::span<const Node> nodes) {
  if (!stored_) return 0;
  const auto run = run_at(nodes, constants_, exported_);
  if (!run) return 0;
  const std::vector<std::string>& results = results_.at(run->node);
  if (is_tapped(nodes.first(run->count), results)) return 0;
  const std::vector<ir::NodeId>& order = stored_->order();
  const ir::Node* node = stored_->find_node(run->node);
  if (!node) return 0;
  // Nodes that read tensors have no node in the file; they come before the next one that has.
  for (; next_ < order.size() && order[next_] != node->id; ++next_) {
    const ir::Node& passed = stored_->node(order[next_]);
    if (passed.kind == ir::NodeKind::get_attr) add(passed);
  }
  if (!add(*node)) return 0;
  define(*node, results);
  importer_.keep_source(nodes[run->count - 1], places_.at(node->id));
  return run->count;
}

const ir::Value* Restorer::output(const std::vector<ir::Value>& results) {
  if (!stored_) return nullptr;
  output_ = stored_->node(stored_->output()).args.at(0).value;
  bool same = true;
  std::size_t count = 0;
  output_.change_nodes([&](ir::NodeId id) {
    const auto place = places_.find(id);
    same = same && place != places_.end() && count < results.size() &&
           results[count] == ir::Value(ir::NodeRef{place->second});
    ++count;
    return ir::Value(ir::NodeRef{same ? place->second : ir::no_node});
  });
  return same && count == results.size() ? &output_ : nullptr;
}

std::string Restorer::output_name() const {
  const std::vector<NamedOutput> outputs = outputs_of(*stored_);
  return output_.is_node() ? outputs.at(0).name : "";
}

/// The value of a tensor that no node reads.
std::optional<Array> Restorer::unread(const std::string& path) const {
  if (auto counter = stored_counter(model_, path)) return counter;
  if (!has_tensor(path)) return std::nullopt;
  return importer_.find(path)->constant->value;
}

void Restorer::finish() {
  if (!stored_) return;
  ir::Graph& graph = importer_.graph();
  for (const auto& [path, class_name] : stored_->containers)
    if (!graph.modules.contains(path)) graph.containers.emplace(path, class_name);
  const std::map<std::string, int> uses = ir::tensor_uses(*stored_);
  std::vector<std::string> order;
  for (const std::string& path : stored_->tensor_order) {
    const ir::Tensor& stored = stored_->tensors.at(path);
    if (!graph.tensors.contains(path) && !uses.contains(path))
      if (auto value = unread(path)) graph.tensors[path].value = std::move(*value);
    const auto tensor = graph.tensors.find(path);
    if (tensor == graph.tensors.end()) continue;
    order.push_back(path);
    const Array value = tensor->second.value;
    tensor->second = stored;
    tensor->second.value = value;
  }
  for (const std::string& path : graph.tensor_order)
    if (std::ranges::find(order, path) == order.end()) order.push_back(path);
  graph.tensor_order = std::move(order);
  graph.guards = stored_->guards;
  graph.history = stored_->history;
}

}  // namespace mase::onnx
