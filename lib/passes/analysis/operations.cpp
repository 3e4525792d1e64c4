// One rule per family of ops: what one output element costs.
#include "passes/analysis/operations.hpp"

#include <algorithm>
#include <cmath>

#include "ir/op_table.hpp"
#include "passes/analysis/rows.hpp"

namespace mase::passes {
namespace {

/// Bits of one element at a port.
double bits_at(const ir::Node& node, const std::string& port, DType dtype, const Shape& shape) {
  const auto format = node.formats.find(port);
  return format == node.formats.end() ? 8.0 * double(size_of(dtype))
                                      : format->second.bits_per_element(shape);
}

bool is_add(const ir::Node& node) {
  const std::string_view op = ir::base_op(node.op);
  return op == "aten::addmm" || op == "aten::baddbmm";
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

OperationCounter::OperationCounter(const ir::Graph& graph)
    : graph_(graph), batch_(noted_batch(graph)) {}

OperationCounts OperationCounter::count(const ir::Node& node) {
  OperationCounts counts;
  counts.parameters = parameters(node, nullptr);
  total_parameters_ += parameters(node, &seen_);
  if (!node.info.is_tensor() || node.op.empty()) return counts;
  const std::string op = ir::classify(graph_, node).op;
  counts.macs = macs(node, op);
  counts.flops = 2 * counts.macs + other_flops(node, op);
  counts.inputs = read(node);
  counts.outputs = outputs(node);
  if (counts.macs > 0) add_bits(node, counts);
  return counts;
}

/// Elements of a node's parameters; only of those not in `seen` when it is given.
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

double OperationCounter::elements(const Shape& shape) const {
  return elements_per_sample(shape, batch_);
}

/// The tensors at a node's data and weight arguments, in argument order.
std::vector<OperationCounter::Operand> OperationCounter::operands(const ir::Node& node) const {
  std::vector<Operand> found;
  for (const ir::Port& port : ir::ports(graph_, node)) {
    if (!port.tensor.empty()) {
      const Array& value = graph_.tensors.at(port.tensor).value;
      found.push_back({port.name, value.dtype(), value.shape()});
    }
    port.value.for_each_node([&](ir::NodeId id) {
      const ir::ValueInfo& info = graph_.node(id).info;
      if (info.is_tensor()) found.push_back({port.name, info.dtype, info.shape});
    });
  }
  return found;
}

double OperationCounter::macs(const ir::Node& node, const std::string& op) const {
  const std::vector<Operand> given = operands(node);
  const auto known = [&](std::size_t count) { return given.size() >= count; };
  const bool layer = op == "linear" || op == "conv1d" || op == "conv2d";
  const bool transposed = op == "convtranspose1d" || op == "convtranspose2d";
  if ((layer || transposed) && known(2) && !given[1].shape.empty()) {
    // Weights per place along the weight's first dimension: outputs, inputs when transposed.
    const double each = double(numel(given[1].shape)) / double(given[1].shape[0]);
    return (layer ? outputs(node) : elements(given[0].shape)) * each;
  }
  if ((op == "matmul" || op == "bmm" || op == "mm") && known(2) && !given[0].shape.empty())
    return outputs(node) * double(given[0].shape.back());
  if ((op == "addmm" || op == "baddbmm") && known(3) && !given[1].shape.empty())
    return outputs(node) * double(given[1].shape.back());
  if (op == "grouped_query_attention" && known(3) && given[1].shape.size() >= 2) {
    const double keys = double(given[1].shape[given[1].shape.size() - 2]);
    return (elements(given[0].shape) + outputs(node)) * keys;
  }
  return 0;
}

/// Bits of the weight and of the input; a product of two activations has both on data.
void OperationCounter::add_bits(const ir::Node& node, OperationCounts& counts) const {
  const std::vector<Operand> given = operands(node);
  const bool added = given.size() >= 3 && given[1].port == "data_in" && is_add(node);
  const Operand& left = given[added ? 1 : 0];
  const Operand& right = given[added ? 2 : 1];
  counts.activation_bits = bits_at(node, left.port, left.dtype, left.shape);
  counts.weight_bits = bits_at(node, right.port, right.dtype, right.shape);
  counts.bitops = counts.macs * counts.activation_bits * counts.weight_bits;
}

double OperationCounter::other_flops(const ir::Node& node, const std::string& op) {
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, op) != names.end();
  };
  if (is({"linear", "conv1d", "conv2d", "convtranspose1d", "convtranspose2d"})) return 0;
  if (is({"matmul", "bmm", "mm"})) return 0;
  if (is({"addmm", "baddbmm"})) return 0;
  if (op == "grouped_query_attention") return 3 * scores(node);
  if (op.starts_with("batch_norm")) return 2 * outputs(node);
  if (is({"layer_norm", "group_norm", "instance_norm2d", "rms_norm"})) return 5 * outputs(node);
  if (is({"softmax", "log_softmax"})) return 3 * outputs(node);
  if (is({"avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"}))
    return outputs(node) * window(node, op);
  if (op.starts_with("adaptive_")) return inputs(node);
  if (is({"mean", "sum", "prod", "max", "min", "argmax", "argmin", "var", "std", "cumsum"}))
    return node.find("other") ? outputs(node) : inputs(node);
  return costs_per_element(node, op) ? outputs(node) : 0;
}

double OperationCounter::inputs(const ir::Node& node) const {
  const std::vector<Operand> given = operands(node);
  return given.empty() ? 0 : elements(given.front().shape);
}

/// Elements of all activations that the node reads.
double OperationCounter::read(const ir::Node& node) const {
  double sum = 0;
  for (const ir::Port& port : ir::ports(graph_, node))
    port.value.for_each_node([&](ir::NodeId id) {
      const ir::Node& given = graph_.node(id);
      if (given.info.is_tensor() && given.kind != ir::NodeKind::get_attr)
        sum += elements(given.info.shape);
    });
  return sum;
}

/// Elements of the matrix q k^T.
double OperationCounter::scores(const ir::Node& node) const {
  const std::vector<Operand> given = operands(node);
  if (given.size() < 2 || given[0].shape.size() < 2 || given[1].shape.size() < 2) return 0;
  const double keys = double(given[1].shape[given[1].shape.size() - 2]);
  return elements(given[0].shape) / double(given[0].shape.back()) * keys;
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

/// Whether an op without a rule of its own computes something on every element.
bool OperationCounter::costs_per_element(const ir::Node& node, const std::string& op) {
  static const std::set<std::string_view> free_ops{
      "identity",   "dropout",   "size",       "dim",       "numel",     "view",     "reshape",
      "flatten",    "unflatten", "squeeze",    "unsqueeze", "transpose", "t",        "permute",
      "contiguous", "clone",     "detach",     "expand",    "repeat",    "tile",     "flip",
      "roll",       "pad",       "getitem",    "cat",       "stack",     "chunk",    "split",
      "unbind",     "slice",     "select",     "narrow",    "index",     "gather",   "index_select",
      "triu",       "tril",      "to",         "type_as",   "arange",    "range",    "zeros",
      "ones",       "full",      "zeros_like", "ones_like", "tensor",    "embedding"};
  if (free_ops.contains(op)) return false;
  const ir::OpRow* row = ir::find_op(op);
  const bool counted = row != nullptr && op != "einsum" && op != "crossentropyloss";
  if (!counted) uncounted_.push_back("'" + node.name + "' (" + op + ")");
  return counted;
}

}  // namespace mase::passes
