// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al., NAACL 2019): norms follow the sums, and the first token gives the class.
// Layers have the names that Hugging Face gives them.
#include "models/bert.hpp"

#include "models/attention.hpp"

namespace mase::models {
namespace {

constexpr double eps = 1e-12;  ///< eps of the norms, as in the paper's program

void containers(Builder& builder, const std::string& path,
                std::initializer_list<const char*> parts) {
  for (const char* part : parts) builder.container(path + part, "Module");
}

/// Heads of one projection of x, [heads, tokens, size].
Joint heads_of(Builder& builder, const Joint& x, const std::string& path, std::int64_t heads) {
  builder.go_on_from(x);
  builder.token_linear(path, x.shape.at(1));
  part_heads(builder, heads);
  return builder.joint();
}

/// norm(x + dense(...)), where ... is the builder's last node.
void add_and_norm(Builder& builder, const std::string& path, const Joint& x) {
  builder.token_linear(path + ".dense", x.shape.at(1));
  builder.add(x);
  builder.layer_norm(path + ".LayerNorm", eps);
}

void encoder_layer(Builder& builder, const std::string& path, std::int64_t heads,
                   std::int64_t hidden) {
  containers(
      builder, path,
      {"", ".attention", ".attention.self", ".attention.output", ".intermediate", ".output"});
  const Joint x = builder.joint();
  const Joint query = heads_of(builder, x, path + ".attention.self.query", heads);
  const Joint key = heads_of(builder, x, path + ".attention.self.key", heads);
  attend(builder, query, key, heads_of(builder, x, path + ".attention.self.value", heads));
  add_and_norm(builder, path + ".attention.output", x);
  const Joint attended = builder.joint();
  builder.token_linear(path + ".intermediate.dense", hidden);
  builder.gelu(path + ".intermediate.intermediate_act_fn");
  add_and_norm(builder, path + ".output", attended);
}

/// tanh(dense(x[:, 0]))
void pool_first(Builder& builder) {
  containers(builder, "pooler", {""});
  const std::int64_t width = builder.shape().at(1);
  builder.first_row();
  builder.linear("pooler.dense", width);
  builder.tanh("pooler.activation");
}

}  // namespace

ir::Graph build_bert_tiny(const Shape& sample_shape, int classes, std::uint64_t seed) {
  constexpr std::int64_t vocabulary = 256, width = 128, heads = 2, hidden = 512, blocks = 2;
  Builder builder("bert-tiny", "BertTiny", sample_shape, seed, DType::int64);
  containers(builder, "embeddings", {""});
  builder.embedding("embeddings.word_embeddings", vocabulary, width);
  builder.add_positions("embeddings.position_embeddings");
  builder.layer_norm("embeddings.LayerNorm", eps);
  containers(builder, "encoder", {""});
  builder.container("encoder.layer", "ModuleList");
  for (std::int64_t i = 0; i < blocks; ++i)
    encoder_layer(builder, "encoder.layer." + std::to_string(i), heads, hidden);
  pool_first(builder);
  builder.linear("classifier", classes);
  return builder.finish();
}

}  // namespace mase::models
