// SPDX-License-Identifier: Apache-2.0
// Decoders after Llama (Touvron et al., 2023): RMS norms in front, rotary embedding (Su et al.,
// 2021), queries in groups that share keys and values (Ainslie et al., EMNLP 2023), and gated
// perceptrons (Shazeer, 2020). Layers have the names that Hugging Face gives them.
#include "models/decoders.hpp"

#include <cmath>

#include "models/attention.hpp"

namespace mase::models {
namespace {

using ir::Value;

/// The settings that all blocks share.
struct Decoder {
  std::int64_t heads, groups;  ///< heads of queries; groups, each with its keys and values
  std::int64_t hidden;         ///< width inside the perceptrons
  Joint cos, sin, mask;
};

/// f(t * base^(-2 (i mod size / 2) / size)) for token t and element i of a head: [tokens, size].
template <class Function>
Array rotary_table(std::int64_t tokens, std::int64_t size, Function f) {
  constexpr double base = 10000;
  Array table(DType::float32, {tokens, size});
  auto out = table.mutable_span<float>().begin();
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t i = 0; i < size; ++i) {
      const auto power = -2.0 * static_cast<double>(i % (size / 2)) / static_cast<double>(size);
      *out++ = static_cast<float>(f(static_cast<double>(t) * std::pow(base, power), i));
    }
  return table;
}

/// A mask that is true where a token would see one after itself.
Array causal_mask(std::int64_t tokens) {
  Array mask(DType::boolean, {tokens, tokens});
  auto out = mask.mutable_span<bool>().begin();
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t seen = 0; seen < tokens; ++seen) *out++ = seen > t;
  return mask;
}

/// Rotates every pair (x_i, x_{i + size / 2}) by the angle of its token: x cos + swapped(x) sin,
/// where the sines of the first half are negative.
void rotate(Builder& builder, const Decoder& decoder) {
  const Joint x = builder.joint();
  builder.multiply(decoder.cos);
  const Joint along = builder.joint();
  builder.go_on_from(x);
  const auto [first, second] = builder.halves();
  builder.concat(second, first);
  builder.multiply(decoder.sin);
  builder.add(along);
}

/// Heads of one projection of x, [heads, tokens, size].
Joint heads_of(Builder& builder, const Joint& x, const std::string& path, std::int64_t heads,
               std::int64_t width) {
  builder.go_on_from(x);
  builder.token_linear(path, width, false);
  part_heads(builder, heads);
  return builder.joint();
}

/// Repeats each group's head for every head of queries that it serves.
Joint shared(Builder& builder, const Decoder& decoder) {
  const Shape& shape = builder.shape();
  builder.call(ir::NodeKind::call_function, "torch.repeat_interleave",
               "aten::repeat_interleave.self_int",
               {{"repeats", Value(decoder.heads / decoder.groups)}, {"dim", Value(1)}},
               {decoder.heads, shape.at(1), shape.at(2)});
  return builder.joint();
}

void attention(Builder& builder, const std::string& path, const Decoder& decoder) {
  const Joint x = builder.joint();
  const std::int64_t width = x.shape.at(1), part = width / decoder.heads * decoder.groups;
  heads_of(builder, x, path + ".q_proj", decoder.heads, width);
  rotate(builder, decoder);
  const Joint query = builder.joint();
  heads_of(builder, x, path + ".k_proj", decoder.groups, part);
  rotate(builder, decoder);
  const Joint key = shared(builder, decoder);
  heads_of(builder, x, path + ".v_proj", decoder.groups, part);
  attend(builder, query, key, shared(builder, decoder), decoder.mask);
  builder.token_linear(path + ".o_proj", width, false);
}

/// down(silu(gate(x)) * up(x))
void gated_perceptron(Builder& builder, const std::string& path, std::int64_t hidden) {
  const Joint x = builder.joint();
  builder.token_linear(path + ".up_proj", hidden, false);
  const Joint up = builder.joint();
  builder.go_on_from(x);
  builder.token_linear(path + ".gate_proj", hidden, false);
  builder.silu(path + ".act_fn");
  builder.multiply(up);
  builder.token_linear(path + ".down_proj", x.shape.at(1), false);
}

/// x + attention(norm(x)), then x + perceptron(norm(x)).
void block(Builder& builder, const std::string& path, const Decoder& decoder) {
  for (const char* part : {"", ".self_attn", ".mlp"}) builder.container(path + part, "Module");
  Joint residual = builder.joint();
  builder.rms_norm(path + ".input_layernorm");
  attention(builder, path + ".self_attn", decoder);
  builder.add(residual);
  residual = builder.joint();
  builder.rms_norm(path + ".post_attention_layernorm");
  gated_perceptron(builder, path + ".mlp", decoder.hidden);
  builder.add(residual);
}

Decoder decoder_of(Builder& builder, std::int64_t heads, std::int64_t groups, std::int64_t hidden) {
  const std::int64_t tokens = builder.shape().at(0), size = builder.shape().at(1) / heads;
  const auto cos = [](double angle, std::int64_t) { return std::cos(angle); };
  const auto sin = [&](double angle, std::int64_t i) {
    return i < size / 2 ? -std::sin(angle) : std::sin(angle);
  };
  return {heads,
          groups,
          hidden,
          builder.constant("cos", rotary_table(tokens, size, cos)),
          builder.constant("sin", rotary_table(tokens, size, sin)),
          builder.constant("mask", causal_mask(tokens))};
}

}  // namespace

ir::Graph build_llama_tiny(const Shape& sample_shape, int classes, std::uint64_t seed) {
  constexpr std::int64_t width = 64, heads = 4, groups = 2, hidden = 192, blocks = 2;
  Builder builder("llama-tiny", "LlamaTiny", sample_shape, seed, DType::int64);
  builder.embedding("embed_tokens", classes, width);
  const Decoder decoder = decoder_of(builder, heads, groups, hidden);
  builder.container("layers", "ModuleList");
  for (std::int64_t i = 0; i < blocks; ++i) block(builder, "layers." + std::to_string(i), decoder);
  builder.rms_norm("norm");
  builder.token_linear("lm_head", classes, false);
  return builder.finish();
}

}  // namespace mase::models
