// SPDX-License-Identifier: Apache-2.0
// Rows of layers with tensors: products, convolutions, norms; and of pools.
#include <algorithm>
#include <numeric>

#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/windows.hpp"

namespace mase::onnx {
namespace {

/// x W with a constant matrix is a linear layer, whose weight is the transpose of W.
ir::NodeId product_with(Call& call, std::size_t i, bool transposed_already,
                        const std::optional<std::size_t>& bias) {
  TensorPaths tensors;
  if (Operand* matrix = transposed_already ? nullptr : call.transpose_of(i)) {
    tensors.emplace_back("weight", call.store("aten::linear", "weight", *matrix->constant));
  } else {
    Constant& given = *(call.constant(i), call.operand(i).constant);
    if (transposed_already) {
      tensors.emplace_back("weight", call.store("aten::linear", "weight", given));
    } else {
      const Shape shape = given.value.shape();
      Constant turned{
          given.value.reshaped({shape[1], shape[0]}), given.name, {}, given.is_parameter, true};
      tensors.emplace_back("weight", call.store("aten::linear", "weight", turned));
    }
  }
  if (bias) {
    call.constant(*bias);
    tensors.emplace_back("bias", call.store("aten::linear", "bias", *call.operand(*bias).constant));
  }
  return call.layer("aten::linear", {{"input", call.ref(0)}}, tensors);
}

bool is_constant_matrix(Call& call, std::size_t i) {
  return call.transpose_of(i) || (call.constant(i) && call.rank(i) == 2);
}

void matmul(Call& call) {
  if (is_constant_matrix(call, 1) && !call.constant(0) && call.rank(0) >= 1)
    return call.result(product_with(call, 1, false, std::nullopt));
  call.result(call.emit("aten::matmul", {{"self", call.ref(0)}, {"other", call.ref(1)}}));
}

bool is_bias(Call& call, std::size_t i, std::int64_t outputs) {
  return call.constant(i) && call.shape(i) == Shape{outputs};
}

ir::NodeId times(Call& call, ir::NodeId node, double factor) {
  return factor == 1 ? node
                     : call.emit("aten::mul.Scalar", {{"self", ref(node)}, {"other", factor}});
}

void gemm(Call& call) {
  const double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  const bool turned = call.integer("transA", 0) != 0;
  const bool transposed = call.integer("transB", 0) != 0;
  if (!turned && alpha == 1 && call.constant(1)) {
    const std::int64_t outputs = call.shape(1).at(transposed ? 0 : 1);
    const bool bias = call.has(2) && beta == 1 && is_bias(call, 2, outputs);
    if (bias || !call.has(2))
      return call.result(
          product_with(call, 1, transposed, bias ? std::optional<std::size_t>(2) : std::nullopt));
  }
  const auto operand = [&](std::size_t i, bool turn) {
    return turn ? call.emit("aten::t", {{"self", call.ref(i)}}) : call.tensor(i);
  };
  ir::NodeId product = call.emit(
      "aten::matmul", {{"self", ref(operand(0, turned))}, {"other", ref(operand(1, transposed))}});
  product = times(call, product, alpha);
  if (call.has(2))
    product = call.emit("aten::add.Tensor", {{"self", ref(product)},
                                             {"other", ref(times(call, call.tensor(2), beta))}});
  call.result(product);
}

/// The linear layer without bias to whose result alone this call adds a constant; no_node if it
/// adds something else.
ir::NodeId layer_of_bias(Call& call, std::size_t product, std::size_t bias) {
  ir::Graph& graph = call.importer().graph();
  if (call.constant(product) || !call.constant(bias)) return ir::no_node;
  const ir::NodeId id = call.operand(product).node;
  if (id == ir::no_node || graph.node(id).op != "aten::linear" ||
      call.importer().uses(call.node().inputs[product]) != 1)
    return ir::no_node;
  const ir::Node& node = graph.node(id);
  const bool has_bias = node.find("bias") || graph.tensor_of(node, "bias");
  return !has_bias && call.shape(bias) == Shape{node.info.shape.back()} ? id : ir::no_node;
}

void add_bias(Call& call, ir::NodeId id, std::size_t bias) {
  ir::Graph& graph = call.importer().graph();
  Constant& constant = *call.operand(bias).constant;
  const ir::Node node = graph.node(id);
  if (node.kind == ir::NodeKind::call_module) {
    const bool named = constant.name.ends_with(".bias");
    const std::string path =
        call.importer().store(constant, named ? constant.name : node.target + ".bias");
    graph.modules.at(node.target).tensors.emplace_back("bias", path);
  } else {
    ir::Node read;
    read.kind = ir::NodeKind::get_attr;
    read.target = call.importer().store(constant, constant.name);
    const ir::NodeId tensor = call.importer().add(std::move(read), id);
    graph.node(id).args.push_back({"bias", ref(tensor)});
  }
  call.result(id);
}

void add(Call& call) {
  for (const std::size_t product : {std::size_t{0}, std::size_t{1}})
    if (const ir::NodeId id = layer_of_bias(call, product, 1 - product); id != ir::no_node)
      return add_bias(call, id, 1 - product);
  broadcast(call, "aten::add", true);
}

void convolution(Call& call) {
  const std::int64_t spatial = call.rank(0) - 2;
  if (spatial != 1 && spatial != 2)
    call.refuse("convolutions over " + std::to_string(spatial) + " dimensions have no rule");
  const Shape weight = call.shape(1);
  const Windows windows(call, {weight.begin() + 2, weight.end()});
  const ir::NodeId input = windows.padded(call, 0.0);
  const std::string op = "aten::conv" + std::to_string(spatial) + "d";
  std::vector<ir::Argument> args{{"input", ref(input)},
                                 {"stride", list_of(windows.stride)},
                                 {"padding", list_of(windows.padding)},
                                 {"dilation", list_of(windows.dilation)},
                                 {"groups", call.integer("group", 1)}};
  if (call.constant(1) && (!call.has(2) || call.constant(2)))
    return call.result(call.layer(op, std::move(args), LayerTensors{{"weight", 1}, {"bias", 2}}));
  args.insert(args.begin() + 1, {"weight", call.ref(1)});
  if (call.has(2)) args.insert(args.begin() + 2, {"bias", call.ref(2)});
  call.result(call.emit(op, std::move(args)));
}

void batch_norm(Call& call) {
  if (call.integer("training_mode", 0) != 0 || (call.opset() < 14 && call.results() > 1))
    call.refuse("it is in training mode; export the model after eval()");
  call.result(call.layer(
      "aten::batch_norm",
      {{"input", call.ref(0)},
       {"training", false},
       {"momentum", shortest_decimal(1 - call.number("momentum", 0.9))},
       {"eps", call.number("epsilon", 1e-5)},
       {"cudnn_enabled", true}},
      LayerTensors{{"weight", 1}, {"bias", 2}, {"running_mean", 3}, {"running_var", 4}}));
}

void layer_norm(Call& call) {
  const std::int64_t rank = call.rank(0);
  const std::int64_t axis = call.axis(call.integer("axis", -1), rank);
  const Shape shape = call.shape(0);
  const std::vector<std::int64_t> normalized(shape.begin() + axis, shape.end());
  if (call.wants(1) || call.wants(2)) call.refuse("its mean and deviation are asked for");
  call.result(call.layer("aten::layer_norm",
                         {{"input", call.ref(0)},
                          {"normalized_shape", list_of(normalized)},
                          {"eps", call.number("epsilon", 1e-5)},
                          {"cudnn_enable", true}},
                         LayerTensors{{"weight", 1}, {"bias", 2}}));
}

void max_pool(Call& call) {
  const std::int64_t spatial = call.rank(0) - 2;
  if (spatial != 1 && spatial != 2)
    call.refuse("pools over " + std::to_string(spatial) + " dimensions have no rule");
  if (call.wants(1)) call.refuse("the places of its maxima are asked for");
  const Windows windows(call, call.integers("kernel_shape").value_or(std::vector<std::int64_t>{}));
  const ir::NodeId input = windows.padded(call, -std::numeric_limits<double>::infinity());
  call.result(call.layer("aten::max_pool" + std::to_string(spatial) + "d",
                         {{"self", ref(input)},
                          {"kernel_size", list_of(windows.kernel)},
                          {"stride", list_of(windows.stride)},
                          {"padding", list_of(windows.padding)},
                          {"dilation", list_of(windows.dilation)},
                          {"ceil_mode", windows.ceil_mode}},
                         TensorPaths{}));
}

}  // namespace

std::vector<Row> layer_rows() {
  return {
      {"MatMul", 1, matmul},
      {"Gemm", 1, gemm},
      {"Add", 7, add, host_binary("Add")},
      {"Conv", 1, convolution},
      {"BatchNormalization", 9, batch_norm},
      {"LayerNormalization", 17, layer_norm},
      {"MaxPool", 8, max_pool},
  };
}

}  // namespace mase::onnx
