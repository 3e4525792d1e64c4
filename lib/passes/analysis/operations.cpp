// SPDX-License-Identifier: Apache-2.0
// One rule per family of ops for the cost of an output element.
#include "passes/analysis/operations.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/text.hpp"
#include "ir/custom_op.hpp"
#include "ir/einsum_equation.hpp"

namespace mase::passes {
namespace {

/// Bits of one element at a port.
double bits_at(const ir::Node& node, const std::string& port, DType dtype, const Shape& shape) {
  const auto format = node.formats.find(port);
  return format == node.formats.end() ? 8.0 * double(size_of(dtype))
                                      : format->second.bits_per_element(shape);
}

/// Layers of many matrices, with several results.
bool is_sequence_layer(ir::OpFamily family) {
  using enum ir::OpFamily;
  return family == recurrent || family == recurrent_layer || family == recurrent_cell ||
         family == attention_layer;
}

/// True for upsampling that computes pixels; the nearest modes only repeat them.
bool interpolates(const ir::Node& node) { return node.op.find("nearest") == std::string::npos; }

/// Elements of all windows that cover `size` elements in torch's adaptive pooling, whose windows
/// overlap when their number does not divide the size.
double tiled(std::int64_t size, std::int64_t windows) {
  double elements = 0;
  for (std::int64_t i = 0; i < windows; ++i)
    elements += double(((i + 1) * size + windows - 1) / windows - i * size / windows);
  return elements;
}

}  // namespace

void OperationCounts::add(const OperationCounts& other) {
  parameters += other.parameters;
  macs += other.macs;
  flops += other.flops;
  bitops += other.bitops;
  inputs += other.inputs;
  outputs += other.outputs;
}

Tree count_tree(double count) {
  const bool whole = std::fabs(count) < 0x1p53 && count == std::floor(count);
  return whole ? Tree(static_cast<std::int64_t>(count)) : Tree(count);
}

OperationCounter::OperationCounter(const ir::Graph& graph) : graph_(graph), elements_(graph) {}

OperationCounts OperationCounter::count(const ir::Node& node) {
  OperationCounts counts;
  counts.parameters = parameters(node, nullptr);
  total_parameters_ += parameters(node, &seen_);
  const ir::Classified what = ir::classify(graph_, node);
  const bool layer = is_sequence_layer(what.family());
  if (node.op.empty() || (!node.info.is_tensor() && !layer)) return counts;
  counts.macs = macs(node, what.family());
  counts.flops = 2 * counts.macs + other_flops(node, what);
  counts.inputs = read(node);
  counts.outputs = outputs(node);
  if (counts.macs > 0) add_bits(node, what.family(), counts);
  return counts;
}

/// Elements of a node's parameters; when `seen` is given, only of those that are not in it.
double OperationCounter::parameters(const ir::Node& node, std::set<std::string>* seen) const {
  double elements = 0;
  const auto add = [&](const std::string& path) {
    const ir::Tensor& tensor = graph_.tensors.at(path);
    if (tensor.is_parameter && (!seen || seen->insert(path).second))
      elements += double(tensor.value.size());
  };
  if (node.kind == ir::NodeKind::get_attr) add(node.target);
  if (node.kind == ir::NodeKind::call_module)
    for (const auto& [argument, path] : graph_.module_of(node).tensors) add(path);
  return elements;
}

/// The tensors at a node's data and weight arguments, in argument order.
std::vector<OperationCounter::Operand> OperationCounter::operands(const ir::Node& node) const {
  std::vector<Operand> found;
  for (const ir::Port& port : ir::ports(graph_, node)) {
    if (port.inner) continue;
    if (!port.tensor.empty()) {
      const Array& value = graph_.tensors.at(port.tensor).value;
      found.push_back({port.name, value.dtype(), value.shape(), double(value.size())});
    }
    port.value.for_each_node([&](ir::NodeId id) {
      const ir::Node& read = graph_.node(id);
      const ir::ValueInfo& info = read.info;
      if (info.is_tensor())
        found.push_back({port.name, info.dtype, info.shape, elements_.of(read)});
    });
  }
  return found;
}

double OperationCounter::macs(const ir::Node& node, ir::OpFamily family) const {
  using enum ir::OpFamily;
  const std::vector<Operand> given = operands(node);
  const auto known = [&](std::size_t count) { return given.size() >= count; };
  const bool layer = family == linear || family == convolution;
  if ((layer || family == transposed_convolution) && known(2) && !given[1].shape.empty()) {
    // Weights per index of the weight's first dimension: the outputs, or the inputs if transposed.
    const double each = double(numel(given[1].shape)) / double(given[1].shape[0]);
    return (layer ? outputs(node) : given[0].elements) * each;
  }
  if (family == matrix_product && known(2) && !given[0].shape.empty())
    return outputs(node) * double(given[0].shape.back());
  if (family == added_product && known(3) && !given[1].shape.empty())
    return outputs(node) * double(given[1].shape.back());
  if (family == attention && known(3) && given[1].shape.size() >= 2) {
    const auto keys = double(given[1].shape[given[1].shape.size() - 2]);
    return (given[0].elements + outputs(node)) * keys;
  }
  if (family == contraction) return contraction_macs(node, given);
  if (family == custom) return custom_macs(node);
  if (is_sequence_layer(family)) return layer_macs(node, given, family == attention_layer);
  return 0;
}

/// MACs of an einsum for one sample, in proportion to its share of the results.
double OperationCounter::contraction_macs(const ir::Node& node,
                                          const std::vector<Operand>& given) const {
  const ir::Value* text = node.find("equation");
  if (!text || text->kind() != ir::Value::Kind::string || given.empty()) return 0;
  std::vector<std::size_t> ranks;
  std::vector<Shape> shapes;
  for (const Operand& operand : given) {
    ranks.push_back(operand.shape.size());
    shapes.push_back(operand.shape);
  }
  const double all = ir::einsum_macs(ir::einsum_equation(text->as_string(), ranks), shapes);
  return all * outputs(node) / double(std::max<std::int64_t>(numel(node.info.shape), 1));
}

/// MACs of a custom op: the sum of products that its table states.
double OperationCounter::custom_macs(const ir::Node& node) const {
  const auto terms = ir::parse_macs(ir::custom_op(graph_, node)->macs);
  const auto factor = [&](const std::string& word) -> double {
    if (const auto number = parse_int(word)) return double(*number);
    if (word == "inputs") return read(node);
    if (word == "outputs") return outputs(node);
    const std::string* path = graph_.tensor_of(node, word);
    return path ? double(graph_.tensors.at(*path).value.size()) : 0;
  };
  double macs = 0;
  if (terms)
    for (const auto& factors : *terms)
      macs +=
          std::transform_reduce(factors.begin(), factors.end(), 1.0, std::multiplies<>(), factor);
  return macs;
}

/// Rows that a layer over sequences reads per sample. Packed sequences have them in one dimension.
double OperationCounter::sequence_rows(const ir::Node& node, const Operand& input) const {
  const double all = node.find("batch_sizes")
                         ? double(numel(input.shape)) / double(elements_.batch())
                         : input.elements;
  return all / double(std::max<std::int64_t>(input.shape.back(), 1));
}

/// Every matrix counts for every row, as do both products of attention, whose keys are the rows.
double OperationCounter::layer_macs(const ir::Node& node, const std::vector<Operand>& given,
                                    bool attends) const {
  if (given.empty() || given[0].shape.size() < 2) return 0;
  const Operand& input = given[0];
  const double rows = sequence_rows(node, input);
  const auto keys = double(input.shape[input.shape.size() - 2]);
  double macs = attends ? 2 * input.elements * keys : 0;
  for (const Operand& operand : given)
    if (ir::general_port(operand.port) == "weight" && operand.shape.size() == 2)
      macs += rows * double(numel(operand.shape));
  return macs;
}

/// Adds the bits of weight and input; a product of two activations has both operands on data.
void OperationCounter::add_bits(const ir::Node& node, ir::OpFamily family,
                                OperationCounts& counts) const {
  if (family == ir::OpFamily::recurrent_layer || family == ir::OpFamily::recurrent_cell)
    return add_recurrent_bits(node, counts);
  if (family == ir::OpFamily::custom) return add_custom_bits(node, counts);
  const std::vector<Operand> given = operands(node);
  const bool added =
      given.size() >= 3 && given[1].port == "data_in" && family == ir::OpFamily::added_product;
  const Operand& left = given[added ? 1 : 0];
  const Operand& right = given[added ? 2 : 1];
  counts.activation_bits = bits_at(node, left.port, left.dtype, left.shape);
  counts.weight_bits = bits_at(node, right.port, right.dtype, right.shape);
  counts.bitops = counts.macs * counts.activation_bits * counts.weight_bits;
}

/// Adds the bits of data and weight, or of data and data when the op has no weight.
void OperationCounter::add_custom_bits(const ir::Node& node, OperationCounts& counts) const {
  const std::vector<Operand> given = operands(node);
  const auto bits = [&](std::string_view port) {
    const auto found = std::ranges::find(given, port, &Operand::port);
    return found == given.end() ? 0 : bits_at(node, found->port, found->dtype, found->shape);
  };
  counts.activation_bits = bits("data_in");
  counts.weight_bits = bits("weight") > 0 ? bits("weight") : counts.activation_bits;
  counts.bitops = counts.macs * counts.activation_bits * counts.weight_bits;
}

/// Pairs each matrix with its operand: the input for weight_ih of the first level, otherwise the
/// state. The bits of a side are means over the products.
void OperationCounter::add_recurrent_bits(const ir::Node& node, OperationCounts& counts) const {
  const std::vector<Operand> given = operands(node);
  const Operand& input = given.front();
  const ir::Value* both = graph_.argument(node, "bidirectional");
  int of_input = both && *both == ir::Value(true) ? 2 : 1;
  const double rows = sequence_rows(node, input);
  double activation = 0, weight = 0;
  for (const Operand& operand : given) {
    if (ir::general_port(operand.port) != "weight" || operand.shape.size() != 2) continue;
    const bool first = operand.port == "weight_ih" && of_input-- > 0;
    const double macs = rows * double(numel(operand.shape));
    const double bits = bits_at(node, operand.port, operand.dtype, operand.shape);
    const double data = bits_at(node, first ? "data_in" : "state", input.dtype, input.shape);
    activation += macs * data;
    weight += macs * bits;
    counts.bitops += macs * data * bits;
  }
  counts.activation_bits = activation / counts.macs;
  counts.weight_bits = weight / counts.macs;
}

double OperationCounter::other_flops(const ir::Node& node, const ir::Classified& what) {
  switch (what.family()) {
    using enum ir::OpFamily;
    case unary:
    case channel_activation:
    case elementwise:
    case difference:
      return outputs(node);
    case resampling:
      return interpolates(node) ? 7 * outputs(node) : 0;
    case batch_norm:
      return 2 * outputs(node);
    case softmax:
      return 3 * outputs(node);
    case instance_norm:
    case group_norm:
    case layer_norm:
      return (what.op == "rms_norm" ? 3 : 5) * outputs(node);
    case attention:
      return 3 * scores(node);
    case pooling:
      return outputs(node) * window(node, what.op);
    case adaptive_pooling:
      return tiles(node);
    case reduction:
    case arg_reduction:
    case scan:
      return node.find("other") ? outputs(node) : inputs(node);
    case linear:
    case convolution:
    case transposed_convolution:
    case attention_layer:
    case recurrent:
    case recurrent_layer:
    case recurrent_cell:
    case matrix_product:
    case added_product:
    case contraction:
    case embedding:
    case copy:
    case reshape:
    case transpose:
    case permute:
    case expand:
    case pad:
    case concatenation:
    case movement:
    case size:
    case host_value:
    case creation:
      return 0;
    case custom:
      if (!ir::custom_op(graph_, node)->macs.empty()) return 0;
      break;
    case other:
      break;
  }
  uncounted_.push_back("'" + node.name + "' (" + what.op + ")");
  return 0;
}

double OperationCounter::outputs(const ir::Node& node) const { return elements_.of(node); }

double OperationCounter::inputs(const ir::Node& node) const {
  const std::vector<Operand> given = operands(node);
  return given.empty() ? 0 : given.front().elements;
}

/// Elements of all activations that the node reads.
double OperationCounter::read(const ir::Node& node) const {
  double sum = 0;
  for (const ir::Port& port : ir::ports(graph_, node))
    port.value.for_each_node([&](ir::NodeId id) {
      const ir::Node& given = graph_.node(id);
      if (given.info.is_tensor() && given.kind != ir::NodeKind::get_attr)
        sum += elements_.of(given);
    });
  return sum;
}

/// Elements of the matrix q k^T.
double OperationCounter::scores(const ir::Node& node) const {
  const std::vector<Operand> given = operands(node);
  if (given.size() < 2 || given[0].shape.size() < 2 || given[1].shape.size() < 2) return 0;
  const auto keys = double(given[1].shape[given[1].shape.size() - 2]);
  return given[0].elements / double(given[0].shape.back()) * keys;
}

double OperationCounter::window(const ir::Node& node, const std::string& op) const {
  const ir::Value* size = graph_.argument(node, "kernel_size");
  if (!size) return 1;
  if (size->kind() == ir::Value::Kind::integer)
    return std::pow(double(size->as_int()), op.ends_with("2d") ? 2 : 1);
  double elements = 1;
  for (const ir::Value& side : size->items()) elements *= double(side.as_int());
  return size->items().size() == 1 && op.ends_with("2d") ? elements * elements : elements;
}

/// Elements of all windows of a pooling that is given the number of windows.
double OperationCounter::tiles(const ir::Node& node) const {
  const std::vector<Operand> given = operands(node);
  if (given.empty() || given[0].shape.size() != node.info.shape.size()) return inputs(node);
  double elements = given[0].elements;
  for (std::size_t d = 0; d < given[0].shape.size(); ++d) {
    const std::int64_t size = given[0].shape[d], windows = node.info.shape[d];
    if (size != windows && size > 0) elements *= tiled(size, windows) / double(size);
  }
  return elements;
}

}  // namespace mase::passes
