// SPDX-License-Identifier: Apache-2.0
// OPT (Zhang et al., 2022). Positions count the tokens that attention_mask lets be seen.
#include <cmath>

#include "huggingface/architectures.hpp"
#include "huggingface/heads.hpp"
#include "huggingface/masks.hpp"

namespace mase::huggingface {
namespace {

constexpr double opt_eps = 1e-5;             ///< torch.nn.LayerNorm's own
constexpr std::int64_t position_offset = 2;  ///< rows in front of the table of positions

struct OptSizes {
  std::int64_t width, head, heads, hidden, layers, word_width;
  double dropout, attention_dropout;
  bool bias, norm_before, last_norm;
};

OptSizes opt_sizes(const Config& config) {
  config.require("layer_norm_elementwise_affine", true);
  const std::int64_t width = config.size("hidden_size");
  const bool before = config.truth("do_layer_norm_before", true);
  return {.width = width,
          .head = config.quotient("hidden_size", "num_attention_heads"),
          .heads = config.size("num_attention_heads"),
          .hidden = config.size("ffn_dim"),
          .layers = config.layers("num_hidden_layers"),
          .word_width = config.size("word_embed_proj_dim", width),
          .dropout = config.number("dropout", 0.1),
          .attention_dropout = config.number("attention_dropout", 0),
          .bias = config.truth("enable_bias", true),
          .norm_before = before,
          .last_norm = !config.truth("_remove_final_layer_norm", false) && before};
}

Ref opt_attention(Builder& b, const std::string& path, const OptSizes& sizes, const Ref& x,
                  const Ref& mask) {
  b.container(path, "OPTAttention");
  const Ref rows = b.size(x, 0), tokens = b.size(x, 1);
  const auto dense = [&](const char* part) {
    return b.linear(path + part, x, sizes.width, sizes.width, sizes.bias);
  };
  const auto heads = [&](const Ref& together) {
    return b.transpose(b.view(together, {rows, -1, sizes.heads, sizes.head}), 1, 2);
  };
  Attention attention;
  attention.query = heads(b.multiply(dense(".q_proj"), std::pow(sizes.head, -0.5)));
  const Ref keys = dense(".k_proj"), values = dense(".v_proj");
  attention.key = heads(keys);
  attention.value = heads(values);
  attention.mask = mask;
  attention.scaling = 1;
  attention.dropout = sizes.attention_dropout;
  attention.softmax = Softmax::float32;
  attention.transposed = {-1, -2};
  const Ref mean = b.contiguous(b.attend(attention));
  const Ref joined = b.contiguous(b.reshape(mean, {rows, tokens, -1}));
  return b.linear(path + ".out_proj", joined, sizes.width, sizes.width, sizes.bias);
}

/// Norms stand before the attention and the perceptron, or after their sums.
Ref opt_layer(Builder& b, const std::string& path, const OptSizes& sizes, Ref x, const Ref& mask) {
  b.container(path, "OPTDecoderLayer");
  const auto norm = [&](const char* part, const Ref& of, bool wanted) {
    return wanted ? b.layer_norm(path + part, of, sizes.width, opt_eps) : of;
  };
  const Ref first = norm(".self_attn_layer_norm", x, sizes.norm_before);
  const Ref attended = opt_attention(b, path + ".self_attn", sizes, first, mask);
  x = b.add(x, b.dropped(attended, sizes.dropout));
  x = norm(".self_attn_layer_norm", x, !sizes.norm_before);
  const std::vector<Ref> shape{b.size(x, 0), b.size(x, 1), b.size(x, 2)};
  const Ref matrix = b.reshape(x, {-1, b.size(x, -1)});
  const Ref second = norm(".final_layer_norm", matrix, sizes.norm_before);
  const Ref wide = b.linear(path + ".fc1", second, sizes.width, sizes.hidden, sizes.bias);
  const Ref active = b.activation(path + ".activation_fn", "activation_function", "relu", wide);
  const Ref narrow = b.linear(path + ".fc2", active, sizes.hidden, sizes.width, sizes.bias);
  x = b.view(b.add(matrix, b.dropped(narrow, sizes.dropout)), shape);
  return norm(".final_layer_norm", x, !sizes.norm_before);
}

/// A mask that lets all tokens of x be seen.
Ref ones_of(Builder& b, const Ref& x) {
  const Ref tokens = b.host("add", b.size(x, 1), 0);
  return b.function(
      "torch.ones", "aten::ones",
      {{"size", Ref::list({b.size(x, 0), tokens})}, {"device", "cpu"}, {"pin_memory", false}});
}

/// Numbers of the tokens that may be seen, from 0 on; -1 for padding.
Ref opt_positions(Builder& b, const Ref& attention_mask) {
  const Ref count = b.method("cumsum", "aten::cumsum", {{"self", attention_mask}, {"dim", 1}});
  const Ref number = b.binary("sub", b.multiply(count, attention_mask), 1);
  return b.item(b.to(number, DType::int64), {all(), all()});
}

Ref position_embeddings(Builder& b, const std::string& path, const OptSizes& sizes,
                        const Ref& positions) {
  b.container(path, "OPTLearnedPositionalEmbedding");
  const Ref numbers = b.add(positions, position_offset);
  const std::int64_t rows = b.config().size("max_position_embeddings") + position_offset;
  const Ref table = b.tensor(path + ".weight", {rows, sizes.width});
  return b.function("torch.nn.functional.embedding", "aten::embedding",
                    {{"weight", table}, {"indices", numbers}});
}

Ref opt_decoder(Builder& b, const std::string& path, const std::vector<Ref>& inputs) {
  const Config& config = b.config();
  const OptSizes sizes = opt_sizes(config);
  b.container(path, "OPTDecoder");
  const Ref ids = b.view(inputs[0], {-1, b.size(inputs[0], 1)});
  Ref x = b.embedding(path + ".embed_tokens", ids, config.size("vocab_size"), sizes.word_width,
                      config.integer("pad_token_id", 1));
  const bool projects = sizes.word_width != sizes.width;
  const Ref positions = opt_positions(b, inputs[1].is_none() ? ones_of(b, x) : inputs[1]);
  const Ref mask = causal_mask(b, x, inputs[1]);
  const Ref places = position_embeddings(b, path + ".embed_positions", sizes, positions);
  if (projects) x = b.linear(path + ".project_in", x, sizes.word_width, sizes.width, false);
  x = b.add(x, b.to_layout(places, DType::float32));
  b.list(path + ".layers");
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    x = opt_layer(b, path + ".layers." + std::to_string(i), sizes, x, mask);
  if (sizes.last_norm) x = b.layer_norm(path + ".final_layer_norm", x, sizes.width, opt_eps);
  if (projects) x = b.linear(path + ".project_out", x, sizes.width, sizes.word_width, false);
  return x;
}

std::vector<Ref> opt_model(Builder& b, const std::vector<Ref>& inputs) {
  return {opt_decoder(b, "decoder", inputs)};
}

std::vector<Ref> opt_language_model(Builder& b, const std::vector<Ref>& inputs) {
  b.container("model", "OPTModel");
  const Ref x = opt_decoder(b, "model.decoder", inputs);
  const std::int64_t width = opt_sizes(b.config()).word_width;
  return {b.contiguous(b.word_scores(x, "model.decoder.embed_tokens.weight", width, true))};
}

std::vector<Ref> opt_classifier(Builder& b, const std::vector<Ref>& inputs) {
  b.container("model", "OPTModel");
  const Ref x = opt_decoder(b, "model.decoder", inputs);
  constexpr std::int64_t usual_padding = 1;
  return {last_token_label(b, inputs[0], x, opt_sizes(b.config()).word_width, usual_padding)};
}

const Architecture opt_rows[] = {
    {"OPTModel",
     "opt",
     "transformers.models.opt.modeling_opt",
     Takes::texts,
     {.base = "model.", .has_head = false},
     opt_model},
    {"OPTForCausalLM",
     "opt",
     "transformers.models.opt.modeling_opt",
     Takes::texts,
     {.base = "model."},
     opt_language_model},
    {"OPTForSequenceClassification",
     "opt",
     "transformers.models.opt.modeling_opt",
     Takes::texts,
     {.base = "model."},
     opt_classifier},
};

}  // namespace

std::span<const Architecture> opt_family() { return opt_rows; }

}  // namespace mase::huggingface
