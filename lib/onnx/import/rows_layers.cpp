// SPDX-License-Identifier: Apache-2.0
// Rows of layers with tensors: products and convolutions.
#include <algorithm>
#include <limits>

#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/moves.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"
#include "onnx/import/transposes.hpp"
#include "onnx/import/windows.hpp"
#include "onnx/import/written_out.hpp"

namespace mase::onnx {
namespace {

/// The weight with its columns as rows without a transpose have them. Codes of a quantized one may
/// share scales along its rows, so it keeps their order.
std::optional<Constant> reordered(Call& call, const Constant& weight, bool by_rows,
                                  ir::NodeId& rows) {
  if (!weight.formats.empty()) return std::nullopt;
  const auto flat = flattened_transpose(call, rows);
  if (!flat) return std::nullopt;
  rows = flat->rows;
  Constant result = weight;
  result.value = picked_along(weight.value, by_rows ? 0 : 1, flat->places);
  result.path.clear();
  call.importer().note("'" + weight.name + "' has its " + (by_rows ? "rows" : "columns") +
                       " in the order of channels first: a transpose in front of its layer " +
                       "is folded into it");
  return result;
}

/// x W with a constant matrix is a linear layer, whose weight is the transpose of W.
ir::NodeId product_with(Call& call, std::size_t i, bool transposed_already,
                        const std::optional<std::size_t>& bias) {
  ir::NodeId rows = call.tensor(0);
  Operand* matrix = transposed_already ? nullptr : call.transpose_of(i);
  const bool as_weight = transposed_already || matrix;
  if (!matrix) call.constant(i);
  Constant& given = matrix ? *matrix->constant : *call.operand(i).constant;
  auto other = reordered(call, given, !as_weight, rows);
  Constant& stored = other ? *other : given;
  TensorPaths tensors;
  if (as_weight) {
    tensors.emplace_back("weight", call.store("aten::linear", "weight", stored));
  } else {
    Constant turned = transposed(stored, stored.name);
    tensors.emplace_back("weight", call.store("aten::linear", "weight", turned));
  }
  if (bias) {
    call.constant(*bias);
    tensors.emplace_back("bias", call.store("aten::linear", "bias", *call.operand(*bias).constant));
  }
  return call.layer("aten::linear", {{"input", ref(rows)}}, tensors);
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
  if (!norm_of_sum(call)) broadcast(call, "aten::add", true);
}

/// Without its optimizer, PyTorch's newer exporter computes zeros for a convolution without a bias.
LayerTensors convolution_tensors(Call& call) {
  const Array* bias = call.has(2) ? call.constant(2) : nullptr;
  const bool computed = bias && !call.operand(2).constant->is_parameter;
  const bool zeros = computed && bias->dtype() == DType::float32 &&
                     std::ranges::all_of(bias->span<float>(), [](float one) { return one == 0; });
  return zeros ? LayerTensors{{"weight", 1}} : LayerTensors{{"weight", 1}, {"bias", 2}};
}

void convolution(Call& call) {
  const std::int64_t spatial = call.rank(0) - 2;
  if (spatial < 1 || spatial > 3)
    call.refuse("convolutions over " + std::to_string(spatial) + " dimensions have no counterpart");
  const Shape weight = call.shape(1);
  if (weight.size() != call.shape(0).size())
    call.wrong("its weight is " + shape_text(weight) + ", but its input " +
               shape_text(call.shape(0)));
  const Windows windows(call, window_of(call, weight));
  const ir::NodeId input = windows.padded(call, call.tensor(0), 0.0);
  const std::string op = "aten::conv" + std::to_string(spatial) + "d";
  std::vector<ir::Argument> args{{"input", ref(input)},
                                 {"stride", list_of(windows.stride)},
                                 {"padding", list_of(windows.padding)},
                                 {"dilation", list_of(windows.dilation)},
                                 {"groups", call.integer("group", 1)}};
  call.result(call.layer(op, std::move(args), convolution_tensors(call)));
}

/// How much of the result's ends is cut, and how much is added behind it, in one dimension.
struct Crop {
  std::int64_t before = 0, after = 0, added = 0;
};

/// The size that the file asks for, if it does so: by output_shape, or as input times stride.
std::optional<std::int64_t> asked_size(Call& call, const Windows& windows, std::size_t dim) {
  const auto shape = call.integers("output_shape");
  if (shape) return shape->at(shape->size() - windows.kernel.size() + dim);
  if (!call.text("auto_pad", "NOTSET").starts_with("SAME")) return std::nullopt;
  return fixed_size(call, call.tensor(0), static_cast<std::int64_t>(dim) + 2) * windows.stride[dim];
}

Crop crop_of(Call& call, const Windows& windows, std::size_t dim) {
  const std::size_t space = windows.kernel.size();
  const auto pads = call.integers("pads").value_or(std::vector<std::int64_t>(2 * space, 0));
  const auto added = call.integers("output_padding").value_or(std::vector<std::int64_t>(space, 0));
  if (pads.size() != 2 * space || added.size() != space)
    call.wrong("its pads are not two, or its output_padding not one, per dimension");
  const auto size = asked_size(call, windows, dim);
  if (!size) return {pads[dim], pads[dim + space], added[dim]};
  const std::int64_t in = fixed_size(call, call.tensor(0), static_cast<std::int64_t>(dim) + 2);
  const std::int64_t total = windows.stride[dim] * (in - 1) + added[dim] +
                             windows.dilation[dim] * (windows.kernel[dim] - 1) + 1 - *size;
  if (total < 0) return {0, 0, added[dim] - total};
  const std::int64_t half = total / 2;
  const bool upper = call.text("auto_pad", "NOTSET") == "SAME_UPPER";
  return upper ? Crop{half, total - half, added[dim]} : Crop{total - half, half, added[dim]};
}

/// Pads of a transposed convolution cut its result.
void transposed_convolution(Call& call) {
  const std::int64_t space = call.rank(0) - 2;
  if (space < 1 || space > 3)
    call.refuse("convolutions over " + std::to_string(space) + " dimensions have no counterpart");
  const Shape weight = call.shape(1);
  const Windows windows = Windows::without_pads(call, window_of(call, weight));
  std::vector<Crop> crops;
  bool even = true;
  for (std::size_t dim = 0; dim < windows.kernel.size(); ++dim) {
    crops.push_back(crop_of(call, windows, dim));
    even = even && crops[dim].before == crops[dim].after;
    const std::int64_t most = std::max(windows.stride[dim], windows.dilation[dim]);
    if (crops[dim].added >= most)
      call.refuse("its result would have " + std::to_string(crops[dim].added) +
                  " places more than its windows reach");
  }
  std::vector<std::int64_t> padding, added;
  for (const Crop& crop : crops) {
    padding.push_back(even ? crop.before : 0);
    added.push_back(crop.added);
  }
  const std::string op =
      "aten::conv_transpose" + std::to_string(space) + (space == 1 ? "d" : "d.input");
  ir::NodeId result = call.layer(op,
                                 {{"input", call.ref(0)},
                                  {"stride", list_of(windows.stride)},
                                  {"padding", list_of(padding)},
                                  {"output_padding", list_of(added)},
                                  {"groups", call.integer("group", 1)},
                                  {"dilation", list_of(windows.dilation)}},
                                 convolution_tensors(call));
  for (std::size_t dim = 0; !even && dim < crops.size(); ++dim) {
    const std::int64_t behind = crops[dim].after;
    const ir::Value end = behind == 0 ? std::numeric_limits<std::int64_t>::max() : -behind;
    result = call.emit("aten::slice.Tensor", {{"self", ref(result)},
                                              {"dim", static_cast<std::int64_t>(dim) + 2},
                                              {"start", crops[dim].before},
                                              {"end", end},
                                              {"step", 1}});
  }
  call.result(result);
}

}  // namespace

std::vector<Row> layer_rows() {
  return {
      {"MatMul", 1, matmul},
      {"Gemm", 1, gemm},
      {"Add", 7, add, host_binary("Add")},
      {"Conv", 1, convolution},
      {"ConvTranspose", 1, transposed_convolution},
  };
}

}  // namespace mase::onnx
