// SPDX-License-Identifier: Apache-2.0
// Nodes of a call: operators as functions, and as layers where the file says which module they are.
#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/naming.hpp"
#include "ir/op_table.hpp"
#include "onnx/import/call.hpp"
#include "onnx/import/importer.hpp"

namespace mase::onnx {
namespace {

/// torch.nn has a batch norm per number of dimensions.
bool fits_rank(std::string_view class_name, std::size_t rank) {
  if (class_name.ends_with("Norm1d")) return rank <= 3;
  if (class_name.ends_with("Norm2d")) return rank == 4;
  if (class_name.ends_with("Norm3d")) return rank == 5;
  return true;
}

/// The class of torch.nn whose operator is `op`; nullptr if none is.
const ir::LayerRow* layer_of(std::string_view op, std::size_t rank) {
  const auto& layers = ir::layer_table();
  const auto found = std::ranges::find_if(layers, [&](const ir::LayerRow& layer) {
    return ir::computes(layer, op) && fits_rank(layer.class_name, rank);
  });
  return found == layers.end() ? nullptr : &*found;
}

/// A tensor's name as PyTorch's module has it: its newer exporter calls the bias that a folded
/// batch norm gives to "conv.weight" "conv.weight_bias".
std::string module_name(const std::string& name, const std::string& argument) {
  const std::string folded = "weight_" + argument;
  return ir::last_part(name) == folded ? name.substr(0, name.size() - folded.size()) + argument
                                       : name;
}

/// The module that all tensors belong to, as PyTorch names them: "fc1" for "fc1.weight".
std::string common_owner(const TensorPaths& tensors) {
  std::string owner;
  for (const auto& [argument, path] : tensors) {
    if (ir::last_part(path) != argument) return "";
    const std::string one(ir::owner_of(path));
    if (one.empty() || (!owner.empty() && one != owner)) return "";
    owner = one;
  }
  return owner;
}

}  // namespace

ir::NodeId Call::emit(std::string_view op, std::vector<ir::Argument> args) {
  const std::string_view base = ir::base_op(op);
  const ir::CallRow* row = ir::find_call(base);
  MASE_CHECK(row || ir::is_allowed(op), "an operator that is not allowed: " + std::string(op));
  ir::Node node;
  node.kind = row ? row->kind : ir::NodeKind::call_function;
  node.target = row ? std::string(row->target) : "torch." + std::string(base.substr(6));
  node.op = op;
  node.args = std::move(args);
  return importer_.add(std::move(node));
}

/// The path of the module that the file's metadata say the node is, if its class computes `op`.
std::string Call::stated_path(std::string_view op) const {
  const std::string& class_name = scope().class_name;
  const ir::LayerRow* layer = class_name.empty() ? nullptr : ir::find_module_class(class_name);
  return layer && ir::computes(*layer, op) ? scope().path : "";
}

/// The layer's path: that which the file states, that of its tensors, that of the bias which is
/// added to it, or that of the node's module.
std::string Call::layer_path(std::string_view op, const TensorPaths& tensors) const {
  if (std::string stated = stated_path(op); !stated.empty()) return stated;
  if (std::string owner = common_owner(tensors); !owner.empty()) return owner;
  if (std::string owner = importer_.scopes().containers().owner_of_product(node_); !owner.empty())
    return owner;
  const Scopes& scopes = importer_.scopes();
  const std::string& path = scope().path;
  const bool alone = scopes.nodes_in(path) <= layer_nodes_ && !scopes.has_modules(path);
  return alone && scope().class_name.empty() ? path : "";
}

std::string Call::store(std::string_view op, const std::string& argument, Constant& constant) {
  // Exporters store equal tensors once, under the name of the first layer. Matrices that are equal
  // are tied; vectors are zeros and ones of layers that are not trained yet.
  const std::string stated = stated_path(op);
  const bool of_another = ir::owner_of(constant.name) != stated;
  if (!stated.empty() && of_another && constant.value.shape().size() <= 1) {
    const std::string path = stated + "." + argument;
    const auto known = importer_.graph().tensors.find(path);
    if (known != importer_.graph().tensors.end() && known->second.value.same_bits(constant.value))
      return path;
    Constant own{constant.value, path, {}, constant.is_parameter};
    return importer_.store(own, path);
  }
  const std::string scope = layer_path(op, {}), name = module_name(constant.name, argument);
  const bool named = ir::last_part(name) == argument || scope.empty();
  return importer_.store(constant, named ? name : scope + "." + argument);
}

bool Call::is_layer(std::string_view op, const LayerTensors& tensors) {
  TensorPaths names;
  for (const auto& [argument, i] : tensors)
    if (has(i) && operand(i).constant) names.emplace_back(argument, operand(i).constant->name);
  return !layer_path(op, names).empty();
}

ir::NodeId Call::layer(std::string_view op, std::vector<ir::Argument> args,
                       const LayerTensors& tensors) {
  const auto is_missing = [&](const auto& one) { return !has(one.second); };
  const auto is_computed = [&](const auto& one) {
    return has(one.second) && !constant(one.second);
  };
  if (std::ranges::any_of(tensors, is_computed)) {
    std::vector<ir::Argument> given;
    for (const auto& one : tensors)
      if (!is_missing(one)) given.push_back({one.first, ref(one.second)});
    args.insert(args.begin() + 1, given.begin(), given.end());
    return emit(op, std::move(args));
  }
  TensorPaths paths;
  for (const auto& [argument, i] : tensors)
    if (has(i)) paths.emplace_back(argument, store(op, argument, *operand(i).constant));
  return layer(op, std::move(args), paths);
}

ir::NodeId Call::layer(std::string_view op, std::vector<ir::Argument> args,
                       const TensorPaths& tensors) {
  ir::Graph& graph = importer_.graph();
  const std::string path = layer_path(op, tensors);
  const ir::Value& data = args.at(0).value;
  const ir::LayerRow* row =
      path.empty() ? nullptr : layer_of(op, graph.node(data.node()).info.shape.size());
  const auto is_data = [](const ir::Argument& one) { return one.value.is_node(); };
  if (row && !graph.tensors.contains(path)) {
    ir::Module module{path, std::string(row->class_name), std::string(op), {}, tensors};
    std::ranges::copy_if(args, std::back_inserter(module.attributes), std::not_fn(is_data));
    std::erase_if(args, std::not_fn(is_data));
    const auto known = graph.modules.find(path);
    const bool same = known != graph.modules.end() && known->second.op == module.op &&
                      known->second.attributes == module.attributes &&
                      known->second.tensors == module.tensors;
    if (same || known == graph.modules.end()) {
      graph.modules.emplace(path, module);
      ir::Node node;
      node.kind = ir::NodeKind::call_module;
      node.target = path;
      node.op = op;
      node.args = std::move(args);
      return importer_.add(std::move(node));
    }
    args.insert(args.end(), module.attributes.begin(), module.attributes.end());
  }
  std::vector<ir::Argument> all;
  std::ranges::copy_if(args, std::back_inserter(all), is_data);
  for (const auto& [argument, tensor] : tensors) {
    ir::Node node;
    node.kind = ir::NodeKind::get_attr;
    node.target = tensor;
    all.push_back({argument, onnx::ref(importer_.add(std::move(node)))});
  }
  std::ranges::copy_if(args, std::back_inserter(all), std::not_fn(is_data));
  return emit(op, std::move(all));
}

}  // namespace mase::onnx
