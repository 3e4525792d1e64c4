// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al., 2019). Its linear layers are products with matrices of [inputs, outputs].
#include <cmath>

#include "huggingface/architectures.hpp"
#include "huggingface/heads.hpp"
#include "huggingface/masks.hpp"

namespace mase::huggingface {
namespace {

struct Gpt2Sizes {
  std::int64_t width, head, hidden, layers, positions, vocabulary;
  double eps, dropout, attention_dropout, embedding_dropout;
  bool scaled, scaled_by_layer;
};

Gpt2Sizes gpt2_sizes(const Config& config) {
  config.require("reorder_and_upcast_attn", false);
  const std::int64_t width = config.size("n_embd");
  return {.width = width,
          .head = config.quotient("n_embd", "n_head"),
          .hidden = config.size("n_inner", 4 * width),
          .layers = config.layers("n_layer"),
          .positions = config.size("n_positions"),
          .vocabulary = config.size("vocab_size"),
          .eps = config.number("layer_norm_epsilon", 1e-5),
          .dropout = config.number("resid_pdrop", 0.1),
          .attention_dropout = config.number("attn_pdrop", 0.1),
          .embedding_dropout = config.number("embd_pdrop", 0.1),
          .scaled = config.truth("scale_attn_weights", true),
          .scaled_by_layer = config.truth("scale_attn_by_inverse_layer_idx", false)};
}

/// x @ weight + bias, where x is seen as a matrix.
Ref conv1d(Builder& b, const std::string& path, const Ref& x, std::int64_t inputs,
           std::int64_t outputs) {
  b.foreign(path, "transformers.pytorch_utils.Conv1D");
  const Ref rows = b.size(x, 0), tokens = b.size(x, 1);
  const Ref matrix = b.view(x, {-1, b.size(x, -1)});
  const Ref bias = b.tensor(path + ".bias", {outputs});
  const Ref weight = b.tensor(path + ".weight", {inputs, outputs});
  const Ref product = b.function("torch.addmm", "aten::addmm",
                                 {{"self", bias}, {"mat1", matrix}, {"mat2", weight}});
  return b.view(product, {rows, tokens, outputs});
}

Ref gpt2_attention(Builder& b, const std::string& path, const Gpt2Sizes& sizes, std::int64_t layer,
                   const Ref& x, const Ref& mask) {
  b.container(path, "GPT2Attention");
  b.foreign(path + ".attn_dropout", "torch.nn.modules.dropout.Dropout");
  const Ref together = conv1d(b, path + ".c_attn", x, sizes.width, 3 * sizes.width);
  const Ref parts = b.function("torch.functional.split", "aten::split.Tensor",
                               {{"self", together}, {"split_size", sizes.width}, {"dim", 2}});
  const Ref query = b.part(parts, 0), key = b.part(parts, 1), value = b.part(parts, 2);
  const auto heads = [&](const Ref& part, const Ref& rows, const Ref& tokens) {
    return b.transpose(b.view(part, {rows, tokens, -1, sizes.head}), 1, 2);
  };
  const Ref key_rows = b.size(key, 0), key_tokens = b.size(key, 1);
  Attention attention;
  attention.key = heads(key, key_rows, key_tokens);
  attention.value = heads(value, key_rows, key_tokens);
  const Ref query_rows = b.size(query, 0), query_tokens = b.size(query, 1);
  attention.query = heads(query, query_rows, query_tokens);
  attention.mask = mask;
  attention.scaling = sizes.scaled ? std::pow(sizes.head, -0.5) : 1;
  if (sizes.scaled_by_layer) attention.scaling /= static_cast<double>(layer + 1);
  attention.dropout = sizes.attention_dropout;
  attention.softmax = Softmax::converted;
  attention.transposed = {-1, -2};
  const Ref mean = b.attend(attention);
  const Ref rows = b.size(mean, 0), tokens = b.size(mean, 1);
  const Ref joined = b.contiguous(b.reshape(mean, {rows, tokens, -1}));
  const Ref dense = conv1d(b, path + ".c_proj", joined, sizes.width, sizes.width);
  return b.dropout(path + ".resid_dropout", dense, sizes.dropout);
}

Ref gpt2_block(Builder& b, const std::string& path, const Gpt2Sizes& sizes, std::int64_t layer,
               const Ref& x, const Ref& mask) {
  b.container(path, "GPT2Block");
  const Ref first = b.layer_norm(path + ".ln_1", x, sizes.width, sizes.eps);
  const Ref middle = b.add(gpt2_attention(b, path + ".attn", sizes, layer, first, mask), x);
  const Ref second = b.layer_norm(path + ".ln_2", middle, sizes.width, sizes.eps);
  b.container(path + ".mlp", "GPT2MLP");
  const Ref wide = conv1d(b, path + ".mlp.c_fc", second, sizes.width, sizes.hidden);
  const Ref active = b.activation(path + ".mlp.act", "activation_function", "gelu_new", wide);
  const Ref narrow = conv1d(b, path + ".mlp.c_proj", active, sizes.hidden, sizes.width);
  return b.add(middle, b.dropout(path + ".mlp.dropout", narrow, sizes.dropout));
}

Ref gpt2_decoder(Builder& b, const std::string& prefix, const std::vector<Ref>& inputs) {
  const Gpt2Sizes sizes = gpt2_sizes(b.config());
  const Ref length = b.size(inputs[0], 1);
  const Ref ids = b.view(inputs[0], {-1, length});
  const Ref rows = inputs[1].is_none() ? Ref() : b.size(ids, 0);
  const Ref words = b.embedding(prefix + "wte", ids, sizes.vocabulary, sizes.width);
  const Ref numbers = b.unsqueeze(b.add(b.arange(b.size(words, 1)), 0), 0);
  const Ref places = b.embedding(prefix + "wpe", numbers, sizes.positions, sizes.width);
  Ref x = b.add(words, b.to_layout(places, DType::float32));
  const Ref seen = inputs[1].is_none() ? Ref() : b.view(inputs[1], {rows, -1});
  const Ref mask = causal_mask(b, words, seen);
  x = b.dropout(prefix + "drop", x, sizes.embedding_dropout);
  const Ref width = b.size(x, -1);
  b.list(prefix + "h");
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    x = gpt2_block(b, prefix + "h." + std::to_string(i), sizes, i, x, mask);
  x = b.layer_norm(prefix + "ln_f", x, sizes.width, sizes.eps);
  return b.view(x, {-1, length, width});
}

std::vector<Ref> gpt2_model(Builder& b, const std::vector<Ref>& inputs) {
  return {gpt2_decoder(b, "", inputs)};
}

std::vector<Ref> gpt2_language_model(Builder& b, const std::vector<Ref>& inputs) {
  b.container("transformer", "GPT2Model");
  const Ref x = gpt2_decoder(b, "transformer.", inputs);
  return {b.word_scores(x, "transformer.wte.weight", b.config().size("n_embd"), true)};
}

std::vector<Ref> gpt2_classifier(Builder& b, const std::vector<Ref>& inputs) {
  b.container("transformer", "GPT2Model");
  const Ref x = gpt2_decoder(b, "transformer.", inputs);
  return {last_token_label(b, inputs[0], x, b.config().size("n_embd"))};
}

constexpr std::string_view gpt2_classes = "transformers.models.gpt2.modeling_gpt2";
/// Older files have the causal mask of each layer.
constexpr std::string_view gpt2_unused[] = {".attn.bias", ".attn.masked_bias"};

const Architecture gpt2_rows[] = {
    {"GPT2Model",
     "gpt2",
     gpt2_classes,
     Takes::texts,
     {.base = "transformer.", .has_head = false, .unused = gpt2_unused},
     gpt2_model},
    {"GPT2LMHeadModel",
     "gpt2",
     gpt2_classes,
     Takes::texts,
     {.base = "transformer.", .unused = gpt2_unused},
     gpt2_language_model},
    {"GPT2ForSequenceClassification",
     "gpt2",
     gpt2_classes,
     Takes::texts,
     {.base = "transformer.", .unused = gpt2_unused},
     gpt2_classifier},
};

}  // namespace

std::span<const Architecture> gpt2_family() { return gpt2_rows; }

}  // namespace mase::huggingface
