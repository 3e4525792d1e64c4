// SPDX-License-Identifier: Apache-2.0
// Each tensor on a port adds its elements and bits to the sums of its class.
#include "passes/analysis/average_bits.hpp"

#include <map>
#include <set>

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "ir/tensor_readers.hpp"
#include "passes/analysis/rows.hpp"
#include "passes/constants/constant_nodes.hpp"
#include "passes/quantization/float_share.hpp"
#include "passes/quantization/readers_format.hpp"

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

Sum tensor_bits(const formats::Format* format, DType dtype, const Shape& shape, double elements) {
  const double bits = format ? format->bits_per_element(shape) : 8.0 * double(size_of(dtype));
  return {bits * elements, elements};
}

/// Tells which tensors are data, whatever port they are on: in a product of two streams, the second
/// operand is on the port of a weight.
class Data {
 public:
  explicit Data(const ir::Graph& graph)
      : graph_(graph), elements_(graph), powers_(graph), constants_(graph, powers_, true) {}

  bool contains(const std::string& port, ir::NodeId id) const {
    return graph_.node(id).info.is_tensor() &&
           (ir::general_port(port) == "data_in" || constants_.of(id) == Constancy::varies);
  }
  double elements(ir::NodeId id) const { return elements_.of(graph_.node(id)); }

 private:
  const ir::Graph& graph_;
  SampleElements elements_;
  BatchPowers powers_;
  ConstantNodes constants_;
};

/// Sums of one node.
struct NodeSums {
  std::map<std::string, Sum> ports;  ///< by port; one sum for all weights, one for all biases
  Sum data, weights, biases;         ///< by the kind of tensor
};

/// The sums of a node for one sample: parameters by their tensors, data by its producers' shapes. A
/// tensor in `counted`, which earlier nodes have read, is part of the sums of ports alone.
NodeSums sums_of(const ir::Graph& graph, const Data& data, const ir::Node& node,
                 std::set<std::string>& counted) {
  NodeSums sums;
  const auto add = [&](const std::string& name, const std::string& path, bool is_data,
                       const Sum& sum) {
    const std::string general(ir::general_port(name));
    sums.ports[general].add(sum);
    if (is_data) return sums.data.add(sum);
    if (!path.empty() && !counted.insert(path).second) return;
    if (general == "weight") sums.weights.add(sum);
    if (general == "bias") sums.biases.add(sum);
  };
  for (const ir::Port& port : ir::ports(graph, node)) {
    if (!port.tensor.empty()) {
      const Array& value = graph.tensors.at(port.tensor).value;
      add(port.name, port.tensor, false,
          tensor_bits(format_at(node, port.name), value.dtype(), value.shape(),
                      double(value.size())));
      continue;
    }
    if (port.inner) continue;  // not stored
    port.value.for_each_node([&](ir::NodeId id) {
      const ir::Node& given = graph.node(id);
      const ir::ValueInfo& info = given.info;
      const std::string path = given.kind == ir::NodeKind::get_attr ? given.target : "";
      if (info.is_tensor())
        add(port.name, path, data.contains(port.name, id),
            tensor_bits(data_format(graph, node, port.name), info.dtype, info.shape,
                        data.elements(id)));
    });
  }
  return sums;
}

/// Parameters and activations of the whole graph, for one sample.
class Memory {
 public:
  Memory(const ir::Graph& graph, const Data& data, bool shared_bits)
      : graph_(graph), data_(data), common_(ir::common_formats(graph)), shared_bits_(shared_bits) {
    for (ir::NodeId id : graph.order()) add_node(graph.node(id));
    // Parameters that no port reads: those of ops outside the table.
    for (const auto& [path, tensor] : graph.tensors)
      add_parameter(path, parameter_format(graph, path));
  }

  Sum parameters, activations;

 private:
  void add_node(const ir::Node& node) {
    const ir::Classified type = ir::classify(graph_, node);
    const bool quantizable = type.row && type.row->quantizable;
    for (const ir::Port& port : ir::ports(graph_, node)) {
      const formats::Format* format = format_at(node, port.name);
      if (!port.tensor.empty()) add_parameter(port.tensor, format);
      port.value.for_each_node([&](ir::NodeId id) {
        const ir::Node& given = graph_.node(id);
        if (given.kind == ir::NodeKind::get_attr)
          add_parameter(given.target, format ? format : parameter_format(graph_, given.target));
        else if (quantizable && data_.contains(port.name, id))
          activations.add(sum_of(data_format(graph_, node, port.name), given.info.dtype,
                                 given.info.shape, data_.elements(id)));
      });
    }
  }

  void add_parameter(const std::string& path, const formats::Format* format) {
    const ir::Tensor& tensor = graph_.tensors.at(path);
    if (!tensor.is_parameter || !seen_.insert(path).second) return;
    // When a tensor is cut into parts, the readers of the parts have the formats.
    const auto common = common_.find(path);
    if (!format && common != common_.end()) format = &common->second;
    parameters.add(
        sum_of(format, tensor.value.dtype(), tensor.value.shape(), double(tensor.value.size())));
  }

  Sum sum_of(const formats::Format* format, DType dtype, const Shape& shape,
             double elements) const {
    double bits = 8.0 * double(size_of(dtype));
    if (format) bits = shared_bits_ ? format->bits_per_element(shape) : own_bits(*format, shape);
    return {bits * elements, elements};
  }

  /// Bits of one element's own code.
  static double own_bits(const formats::Format& format, const Shape& shape) {
    const std::int64_t count = format.per_channel() ? shape.front() : 1;
    const std::vector<float> zeros(static_cast<std::size_t>(count));
    return format.encode(zeros, {count}).codes.bits();
  }

  const ir::Graph& graph_;
  const Data& data_;
  std::map<std::string, formats::Format> common_;
  bool shared_bits_;
  std::set<std::string> seen_;
};

}  // namespace

Result AverageBits::run(ir::Graph& graph, const Options& options, PassContext&) {
  const Data data(graph);
  std::set<std::string> counted;
  Sum weights, biases, activations;
  ReportTable table{"Average bits", {"Node", "Op", "Weight", "Bias", "Activation"}, {}, ""};
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::Classified type = ir::classify(graph, node);
    if (!type.row || !type.row->quantizable) continue;
    NodeSums sums = sums_of(graph, data, node, counted);
    weights.add(sums.weights);
    biases.add(sums.biases);
    activations.add(sums.data);
    table.rows.push_back({node.name, type.op, sums.ports["weight"].average(),
                          sums.ports["bias"].average(), sums.ports["data_in"].average()});
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
  Memory memory(graph, data, options.shared_bits);
  Sum everything = memory.parameters;
  everything.add(memory.activations);
  record("average_bitwidth", memory.parameters);
  record("average_bitwidth_with_activations", everything);
  const double bits = memory.parameters.bits;
  result.info["memory_density"] =
      bits > 0 ? Tree(options.compare_to * memory.parameters.elements / bits) : Tree();
  result.text.push_back("all parameters: " + memory.parameters.average() + " bits on average");
  const FloatShare share = float_share(graph);
  result.info["float"] = share.tree();
  if (share.float_parameters > 0) result.notes.push_back("in float: " + share.text());
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace mase::passes
