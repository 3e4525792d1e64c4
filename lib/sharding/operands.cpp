// SPDX-License-Identifier: Apache-2.0
// Collects operands from arguments and layers, and finds the metadata's names for them.
#include "sharding/operands.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ir/node_arguments.hpp"
#include "ir/op_table.hpp"

namespace mase::sharding {
namespace {

/// Takes the names of the metadata one after the other.
class OperandNames {
 public:
  OperandNames(const ir::Graph& graph, const ir::Node& node)
      : all_(ir::named_arguments(graph, node)) {}

  /// The next name of this node or tensor; the operator's name where the metadata has none.
  std::string take(ir::NodeId source, const std::string& tensor, const std::string& otherwise) {
    const auto is_it = [&](const ir::NamedArgument& one) {
      if (!tensor.empty()) return one.tensor == tensor;
      return one.tensor.empty() && one.value.is_node() && one.value.node() == source;
    };
    const auto found = std::ranges::find_if(all_, is_it);
    if (found == all_.end()) return otherwise;
    std::string name = found->name;
    all_.erase(found);
    return name;
  }

 private:
  std::vector<ir::NamedArgument> all_;
};

}  // namespace

const Shape& Operand::shape() const {
  const Shape* shape = shape_of(info);
  MASE_CHECK(shape != nullptr, "operand '" + name + "' is not a tensor");
  return *shape;
}

const Shape* shape_of(const ir::ValueInfo& info) {
  if (info.is_tensor()) return &info.shape;
  const bool has_tensors = !info.elements.empty() && info.elements.front().is_tensor();
  return has_tensors ? &info.elements.front().shape : nullptr;
}

std::optional<std::size_t> batch_of_sequences(const ir::Graph& graph, const ir::Node& node) {
  const ir::OpFamily family = ir::classify(graph, node).family();
  if (family != ir::OpFamily::recurrent_layer && family != ir::OpFamily::recurrent) return {};
  const Shape* output = shape_of(node.info);
  if (!output || output->size() != 3 || node.find("data") || node.find("batch_sizes")) return {};
  const ir::Value* first = graph.argument(node, "batch_first");
  return first && *first == ir::Value(true) ? 0 : 1;
}

std::vector<Operand> operands_of(const ir::Graph& graph, const ir::Node& node) {
  OperandNames names(graph, node);
  std::vector<Operand> operands;
  const auto add_node = [&](const std::string& argument, ir::NodeId id) {
    const ir::Node& source = graph.node(id);
    if (!shape_of(source.info)) return;
    Operand operand{argument, names.take(id, "", argument), id, "", ir::no_node, source.info};
    if (source.kind == ir::NodeKind::get_attr) {
      operand.source = ir::no_node;
      operand.tensor = source.target;
      operand.reader = id;
    }
    operands.push_back(std::move(operand));
  };
  for (const ir::Argument& argument : node.args)
    argument.value.for_each_node([&](ir::NodeId id) { add_node(argument.name, id); });
  if (node.kind != ir::NodeKind::call_module) return operands;
  for (const auto& [argument, path] : graph.module_of(node).tensors) {
    const Array& value = graph.tensors.at(path).value;
    operands.push_back({argument, names.take(ir::no_node, path, argument), ir::no_node, path,
                        ir::no_node, ir::ValueInfo::tensor(value.dtype(), value.shape())});
  }
  return operands;
}

}  // namespace mase::sharding
