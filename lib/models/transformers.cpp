// SPDX-License-Identifier: Apache-2.0
// The transformers: pre-norm blocks of attention and a perceptron (Dosovitskiy et al., ICLR 2021).
#include "models/transformers.hpp"

#include <cmath>

#include "models/builder.hpp"

namespace mase::models {
namespace {

using ir::Value;

Value list(const Shape& values) {
  Value::List items;
  for (const std::int64_t value : values) items.emplace_back(value);
  return Value::list(items);
}

/// The heads of one of query, key and value: [heads, tokens, size] of [3, heads, tokens, size].
ir::NodeId part_of(Builder& builder, ir::NodeId all, const Shape& shape, int index) {
  builder.go_on_from(all, shape);
  builder.call(ir::NodeKind::call_function, "_operator.getitem", "mase::getitem",
               {{"index", Value(index)}}, {shape[1], shape[2], shape[3]});
  return builder.last();
}

void matmul(Builder& builder, ir::NodeId other, const Shape& result) {
  builder.call(ir::NodeKind::call_function, "_operator.matmul", "aten::matmul",
               {{"other", Value(ir::NodeRef{other})}}, result);
}

/// Queries, keys and values by one layer, then softmax(Q K^T / sqrt(size)) V of every head.
void attention(Builder& builder, const std::string& path, std::int64_t heads) {
  using enum ir::NodeKind;
  const std::int64_t tokens = builder.shape().at(0), width = builder.shape().at(1);
  const std::int64_t size = width / heads;
  builder.token_linear(path + ".qkv", 3 * width);
  builder.call(call_method, "reshape", "aten::reshape",
               {{"shape", list({-1, tokens, 3, heads, size})}}, {tokens, 3, heads, size});
  const Shape parts{3, heads, tokens, size};
  builder.call(call_method, "permute", "aten::permute", {{"dims", list({2, 0, 3, 1, 4})}}, parts,
               1);
  const ir::NodeId all = builder.last();
  const ir::NodeId query = part_of(builder, all, parts, 0);
  const ir::NodeId key = part_of(builder, all, parts, 1);
  const ir::NodeId value = part_of(builder, all, parts, 2);
  builder.go_on_from(key, {heads, tokens, size});
  builder.call(call_method, "transpose", "aten::transpose.int",
               {{"dim0", Value(-2)}, {"dim1", Value(-1)}}, {heads, size, tokens});
  const ir::NodeId transposed = builder.last();
  builder.go_on_from(query, {heads, tokens, size});
  matmul(builder, transposed, {heads, tokens, tokens});
  builder.call(call_function, "_operator.mul", "aten::mul.Scalar",
               {{"other", Value(1.0 / std::sqrt(static_cast<double>(size)))}}, builder.shape());
  builder.call(call_method, "softmax", "aten::softmax.int", {{"dim", Value(-1)}}, builder.shape());
  matmul(builder, value, {heads, tokens, size});
  builder.call(call_method, "transpose", "aten::transpose.int",
               {{"dim0", Value(1)}, {"dim1", Value(2)}}, {tokens, heads, size});
  builder.call(call_method, "reshape", "aten::reshape", {{"shape", list({-1, tokens, width})}},
               {tokens, width});
  builder.token_linear(path + ".proj", width);
}

/// x + attention(norm(x)), then x + perceptron(norm(x)).
void block(Builder& builder, const std::string& path, std::int64_t heads, std::int64_t hidden) {
  for (const char* part : {"", ".attn", ".mlp"})
    builder.container(path + part, part == std::string(".mlp") ? "Sequential" : "Module");
  ir::NodeId residual = builder.last();
  const std::int64_t width = builder.shape().back();
  builder.layer_norm(path + ".norm1");
  attention(builder, path + ".attn", heads);
  builder.add(residual);
  residual = builder.last();
  builder.layer_norm(path + ".norm2");
  builder.token_linear(path + ".mlp.0", hidden);
  builder.gelu(path + ".mlp.1");
  builder.token_linear(path + ".mlp.2", width);
  builder.add(residual);
}

/// [channels, height, width] as rows of one patch each: [tokens, width].
void patches(Builder& builder, std::int64_t size, std::int64_t width) {
  using enum ir::NodeKind;
  builder.conv2d("patch_embed", width, size, 0, true, size);
  const std::int64_t tokens = builder.shape()[1] * builder.shape()[2];
  builder.call(call_method, "flatten", "aten::flatten.using_ints", {{"start_dim", Value(2)}},
               {width, tokens});
  builder.call(call_method, "transpose", "aten::transpose.int",
               {{"dim0", Value(1)}, {"dim1", Value(2)}}, {tokens, width});
}

}  // namespace

ir::Graph build_vit_tiny(const Shape& sample_shape, int classes, std::uint64_t seed) {
  constexpr std::int64_t patch = 7, width = 64, heads = 4, hidden = 128, blocks = 3;
  Builder builder("vit-tiny", "VitTiny", sample_shape, seed);
  patches(builder, patch, width);
  builder.add_positions("pos_embed");
  builder.container("blocks", "ModuleList");
  for (std::int64_t i = 0; i < blocks; ++i)
    block(builder, "blocks." + std::to_string(i), heads, hidden);
  builder.layer_norm("norm");
  builder.call(ir::NodeKind::call_method, "mean", "aten::mean.dim", {{"dim", list({1})}}, {width});
  builder.linear("head", classes);
  return builder.finish();
}

}  // namespace mase::models
