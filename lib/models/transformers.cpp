// SPDX-License-Identifier: Apache-2.0
// The encoders: pre-norm blocks of attention and a perceptron (Dosovitskiy et al., ICLR 2021).
#include "models/transformers.hpp"

#include "models/attention.hpp"

namespace mase::models {
namespace {

using ir::Value;

/// The queries, keys and values of all heads from one layer, as [3, heads, tokens, size].
Joint projected(Builder& builder, const std::string& path, std::int64_t heads) {
  using enum ir::NodeKind;
  const std::int64_t tokens = builder.shape().at(0), width = builder.shape().at(1);
  const std::int64_t size = width / heads;
  builder.token_linear(path + ".qkv", 3 * width);
  builder.call(call_method, "reshape", "aten::reshape",
               {{"shape", list({-1, tokens, 3, heads, size})}}, {tokens, 3, heads, size});
  builder.call(call_method, "permute", "aten::permute", {{"dims", list({2, 0, 3, 1, 4})}},
               {3, heads, tokens, size}, 1);
  return builder.joint();
}

void attention(Builder& builder, const std::string& path, std::int64_t heads) {
  const std::int64_t width = builder.shape().at(1);
  Joint parts = projected(builder, path, heads);
  parts.shape.erase(parts.shape.begin());
  const Joint query = builder.item(parts, 0), key = builder.item(parts, 1);
  attend(builder, query, key, builder.item(parts, 2));
  builder.token_linear(path + ".proj", width);
}

/// x + attention(norm(x)), then x + perceptron(norm(x)).
void block(Builder& builder, const std::string& path, std::int64_t heads, std::int64_t hidden) {
  for (const char* part : {"", ".attn", ".mlp"})
    builder.container(path + part, part == std::string(".mlp") ? "Sequential" : "Module");
  Joint residual = builder.joint();
  const std::int64_t width = builder.shape().back();
  builder.layer_norm(path + ".norm1");
  attention(builder, path + ".attn", heads);
  builder.add(residual);
  residual = builder.joint();
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

/// The settings in which encoders of one kind differ.
struct Encoder {
  std::int64_t blocks, heads, hidden;
};

/// Adds positions, blocks over tokens, and a norm.
void encode(Builder& builder, const Encoder& encoder) {
  builder.add_positions("pos_embed");
  builder.container("blocks", "ModuleList");
  for (std::int64_t i = 0; i < encoder.blocks; ++i)
    block(builder, "blocks." + std::to_string(i), encoder.heads, encoder.hidden);
  builder.layer_norm("norm");
}

/// Computes the scores of the classes from the mean of all tokens.
ir::Graph classify_mean(Builder& builder, int classes) {
  builder.call(ir::NodeKind::call_method, "mean", "aten::mean.dim", {{"dim", list({1})}},
               {builder.shape().at(1)});
  builder.linear("head", classes);
  return builder.finish();
}

}  // namespace

ir::Graph build_vit_tiny(const Shape& sample_shape, int classes, std::uint64_t seed) {
  constexpr std::int64_t patch = 7, width = 64;
  Builder builder("vit-tiny", "VitTiny", sample_shape, seed);
  patches(builder, patch, width);
  encode(builder, {.blocks = 3, .heads = 4, .hidden = 128});
  return classify_mean(builder, classes);
}

ir::Graph build_deit_tiny(const Shape& sample_shape, int classes, std::uint64_t seed) {
  constexpr std::int64_t patch = 16, width = 192;
  Builder builder("deit-tiny", "DeitTiny", sample_shape, seed);
  patches(builder, patch, width);
  builder.add_token("cls_token");
  encode(builder, {.blocks = 12, .heads = 3, .hidden = 4 * width});
  builder.first_row();
  builder.linear("head", classes);
  return builder.finish();
}

ir::Graph build_transformer_jets(const Shape& sample_shape, int classes, std::uint64_t seed) {
  constexpr std::int64_t width = 32;
  Builder builder("transformer-jets", "TransformerJets", sample_shape, seed);
  if (sample_shape.size() == 1)
    builder.call(ir::NodeKind::call_method, "reshape", "aten::reshape",
                 {{"shape", list({-1, sample_shape[0], 1})}}, {sample_shape[0], 1});
  builder.token_linear("embed", width);
  encode(builder, {.blocks = 2, .heads = 2, .hidden = 64});
  return classify_mean(builder, classes);
}

}  // namespace mase::models
