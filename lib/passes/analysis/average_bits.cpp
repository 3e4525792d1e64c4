// Every tensor on a port adds its elements and bits to the sums of its class.
#include "passes/analysis/average_bits.hpp"

#include <map>

#include "base/text.hpp"
#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

struct Sum {
  double bits = 0, elements = 0;
  std::string average() const { return elements > 0 ? fixed_text(bits / elements, 3) : "NA"; }
  void add(const Sum& other) {
    bits += other.bits;
    elements += other.elements;
  }
};

Sum tensor_bits(const ir::Node& node, const std::string& port, DType dtype, const Shape& shape) {
  const double elements = double(numel(shape));
  const auto format = node.formats.find(port);
  const double bits = format == node.formats.end() ? 8.0 * double(size_of(dtype))
                                                   : format->second.bits_per_element(shape);
  return {bits * elements, elements};
}

/// Sums per port of one node: parameter tensors by their path, data by the producers' shapes.
std::map<std::string, Sum> port_sums(const ir::Graph& graph, const ir::Node& node) {
  std::map<std::string, Sum> sums;
  for (const ir::Port& port : ir::ports(graph, node)) {
    if (!port.tensor.empty()) {
      const Array& value = graph.tensors.at(port.tensor).value;
      sums[port.name].add(tensor_bits(node, port.name, value.dtype(), value.shape()));
      continue;
    }
    port.value.for_each_node([&](ir::NodeId id) {
      const ir::ValueInfo& info = graph.node(id).info;
      if (info.is_tensor())
        sums[port.name].add(tensor_bits(node, port.name, info.dtype, info.shape));
    });
  }
  return sums;
}

}  // namespace

Result AverageBits::run(ir::Graph& graph, const Options&, PassContext&) {
  Sum weights, biases, activations;
  ReportTable table{"Average bits", {"Node", "Op", "Weight", "Bias", "Activation"}, {}, ""};
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::Classified type = ir::classify(graph, node);
    if (!type.row || !type.row->quantizable) continue;
    std::map<std::string, Sum> sums = port_sums(graph, node);
    weights.add(sums["weight"]);
    biases.add(sums["bias"]);
    activations.add(sums["data_in"]);
    table.rows.push_back({node.name, type.op, sums["weight"].average(), sums["bias"].average(),
                          sums["data_in"].average()});
  }
  table.rows.push_back({"average", "", weights.average(), biases.average(), activations.average()});
  Result result;
  const auto record = [&](const char* key, const Sum& sum) {
    result.info[key] = sum.elements > 0 ? Tree(sum.bits / sum.elements) : Tree();
  };
  record("weight_bits", weights);
  record("bias_bits", biases);
  record("activation_bits", activations);
  Sum parameters = weights;
  parameters.add(biases);
  record("parameter_bits", parameters);
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace mase::passes
