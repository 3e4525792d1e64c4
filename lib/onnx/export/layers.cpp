// SPDX-License-Identifier: Apache-2.0
// Rows of layers: products, convolutions, norms, tables and attention.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

void linear(NodeWriter& node) {
  const std::string x = node.tensor("input"), weight = node.tensor("weight");
  const bool bias = node.has("bias");
  if (node.rank("input") == 2) {
    Names operands{x, weight};
    if (bias) operands.push_back(node.tensor("bias"));
    return node.finish("Gemm", operands, {attribute("transB", std::int64_t{1})});
  }
  const std::string turned = node.write("Transpose", {weight}, {attribute("perm", Integers{1, 0})});
  if (!bias) return node.finish("MatMul", {x, turned});
  node.finish("Add", {node.write("MatMul", {x, turned}), node.tensor("bias")});
}

ExportRow product(std::string_view op, std::string_view right) {
  return {op, [right](NodeWriter& node) {
            node.finish("MatMul", {node.tensor("self"), node.tensor(right)});
          }};
}

/// beta x + alpha a b
ExportRow added_product(std::string_view op, std::string_view left, std::string_view right) {
  return {
      op, [=](NodeWriter& node) {
        const DType dtype = node.result_dtype();
        const auto times = [&](const std::string& value, std::string_view factor) {
          const double number = node.number(factor, 1);
          return number == 1 ? value : node.write("Mul", {value, node.scalar(number, dtype)});
        };
        const std::string product = node.write("MatMul", {node.tensor(left), node.tensor(right)});
        node.finish("Add", {times(product, "alpha"), times(node.tensor("self"), "beta")});
      }};
}

void outer(NodeWriter& node) {
  node.finish("Mul", {node.unsqueezed(node.tensor("self"), {1}),
                      node.unsqueezed(node.tensor("vec2"), {0})});
}

void einsum(NodeWriter& node) {
  node.finish("Einsum", node.tensors("tensors"),
              {attribute("equation", node.text("equation", ""))});
}

/// The attributes of windows that convolutions share. The size of the kernel follows from the
/// weight, but other programs want it.
Attributes windows(NodeWriter& node, std::size_t spatial) {
  const Shape& weight = node.tensor_shape("weight");
  Attributes attributes{attribute("kernel_shape", Integers(weight.begin() + 2, weight.end())),
                        attribute("strides", node.integers("stride", spatial, 1)),
                        attribute("dilations", node.integers("dilation", spatial, 1)),
                        attribute("group", node.integer("groups", 1))};
  const std::string named = node.text("padding", "");
  if (named == "same")
    attributes.push_back(attribute("auto_pad", std::string("SAME_UPPER")));
  else if (named.empty())
    attributes.push_back(attribute("pads", both_sides(node.integers("padding", spatial, 0))));
  return attributes;
}

Names with_weights(NodeWriter& node) {
  Names operands{node.tensor("input"), node.tensor("weight")};
  if (node.has("bias")) operands.push_back(node.tensor("bias"));
  return operands;
}

/// The layer on one sample without a batch gets one of 1.
void convolution(NodeWriter& node, std::string_view op, std::size_t spatial,
                 Attributes attributes) {
  Names operands = with_weights(node);
  const bool alone = node.rank("input") == static_cast<std::int64_t>(spatial) + 1;
  if (!alone) return node.finish(op, operands, std::move(attributes));
  operands[0] = node.unsqueezed(operands[0], {0});
  node.finish("Squeeze", {node.write(op, operands, std::move(attributes)), node.ints({0})});
}

ExportRow convolution(std::string_view op, std::size_t spatial) {
  return {op, [spatial](NodeWriter& node) {
            convolution(node, "Conv", spatial, windows(node, spatial));
          }};
}

ExportRow transposed_convolution(std::string_view op, std::size_t spatial) {
  return {op, [spatial](NodeWriter& node) {
            Attributes attributes = windows(node, spatial);
            attributes.push_back(
                attribute("output_padding", node.integers("output_padding", spatial, 0)));
            convolution(node, "ConvTranspose", spatial, std::move(attributes));
          }};
}

/// A tensor of the layer, or one value for each of so many channels.
std::string per_channel(NodeWriter& node, std::string_view argument, std::int64_t channels,
                        float otherwise) {
  if (node.has(argument)) return node.tensor(argument);
  return node.constant(
      Array::from(std::vector<float>(static_cast<std::size_t>(channels), otherwise), {channels}));
}

/// Whether a norm uses the statistics of its input in eval mode, where the flag of training is off.
bool uses_input(const NodeWriter& node, std::string_view flag, bool otherwise) {
  return node.flag(flag, otherwise && !node.has(flag)) || !node.has("running_mean");
}

/// (x - mean) / sqrt(var + eps) * weight + bias, with mean and var of each channel of the batch.
void batch_statistics_norm(NodeWriter& node) {
  const std::string x = node.tensor("input");
  const DType dtype = node.result_dtype();
  Integers axes{0}, others;
  for (std::int64_t axis = 2; axis < node.rank("input"); ++axis) axes.push_back(axis);
  for (std::size_t i = 1; i < axes.size(); ++i) others.push_back(static_cast<std::int64_t>(i));
  const auto mean = [&](const std::string& of) {
    return node.write("ReduceMean", {of, node.ints(axes)});
  };
  const auto of_channels = [&](const std::string& values) {
    return others.empty() ? values : node.unsqueezed(values, others);
  };
  std::string result = node.write("Sub", {x, mean(x)});
  const std::string variance = mean(node.write("Mul", {result, result}));
  const std::string sum =
      node.write("Add", {variance, node.scalar(node.number("eps", 1e-5), dtype)});
  result = node.write("Div", {result, node.write("Sqrt", {sum})});
  if (node.has("weight")) result = node.write("Mul", {result, of_channels(node.tensor("weight"))});
  if (node.has("bias")) result = node.write("Add", {result, of_channels(node.tensor("bias"))});
  node.finish("Identity", {result});
}

void running_norm(NodeWriter& node) {
  const std::int64_t channels = node.shape("input").at(1);
  node.finish("BatchNormalization",
              {node.tensor("input"), per_channel(node, "weight", channels, 1),
               per_channel(node, "bias", channels, 0), node.tensor("running_mean"),
               node.tensor("running_var")},
              {attribute("epsilon", node.number("eps", 1e-5)),
               attribute("momentum", 1 - node.number("momentum", 0.1))});
}

void batch_norm(NodeWriter& node) {
  if (uses_input(node, "training", false)) return batch_statistics_norm(node);
  running_norm(node);
}

void instance_norm(NodeWriter& node) {
  if (!uses_input(node, "use_input_stats", true)) return running_norm(node);
  const std::int64_t channels = node.shape("input").at(1);
  node.finish("InstanceNormalization",
              {node.tensor("input"), per_channel(node, "weight", channels, 1),
               per_channel(node, "bias", channels, 0)},
              {attribute("epsilon", node.number("eps", 1e-5))});
}

void group_norm(NodeWriter& node) {
  const std::int64_t channels = node.shape("input").at(1);
  node.finish("GroupNormalization",
              {node.tensor("input"), per_channel(node, "weight", channels, 1),
               per_channel(node, "bias", channels, 0)},
              {attribute("epsilon", node.number("eps", 1e-5)),
               attribute("num_groups", node.integer("num_groups", 1))});
}

Shape normalized_shape(const NodeWriter& node) {
  const auto sizes = node.integers("normalized_shape");
  if (!sizes) node.refuse("its normalized_shape must be constant");
  return *sizes;
}

void layer_norm(NodeWriter& node) {
  const Shape shape = normalized_shape(node);
  const auto dims = static_cast<std::int64_t>(shape.size());
  Names operands{node.tensor("input")};
  if (node.has("weight")) {
    operands.push_back(node.tensor("weight"));
  } else {
    const std::vector<float> ones(static_cast<std::size_t>(numel(shape)), 1);
    operands.push_back(node.constant(Array::from(ones, shape)));
  }
  if (node.has("bias")) operands.push_back(node.tensor("bias"));
  node.finish("LayerNormalization", operands,
              {attribute("axis", -dims), attribute("epsilon", node.number("eps", 1e-5))});
}

/// x / sqrt(mean(x x) + eps) times the weight; RMSNormalization came with opset 23.
void rms_norm(NodeWriter& node) {
  constexpr double float32_epsilon = 0x1p-23;
  const std::int64_t rank = node.rank("input");
  Integers axes(normalized_shape(node).size());
  std::iota(axes.begin(), axes.end(), rank - static_cast<std::int64_t>(axes.size()));
  const DType dtype = node.result_dtype();
  const std::string x = node.tensor("input");
  const std::string mean = node.write("ReduceMean", {node.write("Mul", {x, x}), node.ints(axes)},
                                      {attribute("keepdims", std::int64_t{1})});
  const std::string sum =
      node.write("Add", {mean, node.scalar(node.number("eps", float32_epsilon), dtype)});
  const Names quotient{x, node.write("Sqrt", {sum})};
  if (!node.has("weight")) return node.finish("Div", quotient);
  node.finish("Mul", {node.write("Div", quotient), node.tensor("weight")});
}

void embedding(NodeWriter& node) {
  node.finish("Gather", {node.tensor("weight"), node.tensor("indices")});
}

/// True where a query may see a key: those that are not later.
std::string causal_mask(NodeWriter& node) {
  const Shape& query = node.shape("query");
  const Shape& key = node.shape("key");
  const std::int64_t rows = query.at(query.size() - 2), columns = key.at(key.size() - 2);
  Array mask(DType::boolean, {rows, columns});
  const auto values = mask.mutable_span<bool>();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j <= std::min(i, columns - 1); ++j)
      values[static_cast<std::size_t>(i * columns + j)] = true;
  return node.constant(std::move(mask));
}

/// Scores with -inf where a mask is false, or plus a mask of numbers.
std::string masked(NodeWriter& node, const std::string& scores) {
  const DType dtype = node.result_dtype();
  const auto hide = [&](const std::string& mask) {
    return node.write("Where", {mask, scores, node.scalar(-INFINITY, dtype)});
  };
  if (node.flag("is_causal", false)) return hide(causal_mask(node));
  if (!node.has("attn_mask")) return scores;
  const std::string mask = node.tensor("attn_mask");
  if (node.dtype("attn_mask") == DType::boolean) return hide(mask);
  return node.write("Add", {scores, mask});
}

/// Keys or values [..., heads, length, size] with each head repeated for the queries' heads that
/// share it.
std::string for_all_heads(NodeWriter& node, std::string_view argument) {
  const std::string x = node.tensor(argument);
  if (!node.flag("enable_gqa", false)) return x;
  const std::int64_t heads = node.shape("query").rbegin()[2];
  const std::int64_t shared = node.shape(argument).rbegin()[2];
  if (heads == shared) return x;
  if (heads % shared != 0) node.refuse("its heads of keys do not divide those of its queries");
  Integers places(static_cast<std::size_t>(heads));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<std::int64_t>(i) * shared / heads;
  return node.write("Gather", {x, node.ints(places)}, {along(node.rank(argument) - 3)});
}

/// softmax(q k^T scale + mask) v
void attention(NodeWriter& node) {
  const Shape& query = node.shape("query");
  const double scale = node.number("scale", 1 / std::sqrt(static_cast<double>(query.back())));
  const std::string turned = node.transposed(for_all_heads(node, "key"), node.rank("key"), -2, -1);
  const std::string product = node.write("MatMul", {node.tensor("query"), turned});
  const std::string scores = node.write("Mul", {product, node.scalar(scale, node.result_dtype())});
  const std::string weights = node.write("Softmax", {masked(node, scores)}, {along(-1)});
  node.finish("MatMul", {weights, for_all_heads(node, "value")});
}

}  // namespace

std::vector<ExportRow> exported_layers() {
  return {
      {"aten::linear", linear},
      product("aten::matmul", "other"),
      product("aten::bmm", "mat2"),
      product("aten::mm", "mat2"),
      added_product("aten::addmm", "mat1", "mat2"),
      added_product("aten::baddbmm", "batch1", "batch2"),
      {"aten::outer", outer},
      {"aten::einsum", einsum},
      convolution("aten::conv1d", 1),
      convolution("aten::conv2d", 2),
      convolution("aten::conv3d", 3),
      transposed_convolution("aten::conv_transpose1d", 1),
      transposed_convolution("aten::conv_transpose2d", 2),
      transposed_convolution("aten::conv_transpose3d", 3),
      {"aten::batch_norm", batch_norm},
      {"aten::instance_norm", instance_norm},
      {"aten::group_norm", group_norm},
      {"aten::layer_norm", layer_norm},
      {"aten::rms_norm", rms_norm},
      {"aten::embedding", embedding},
      {"aten::scaled_dot_product_attention", attention},
  };
}

}  // namespace mase::onnx
