// SPDX-License-Identifier: Apache-2.0
// DistilBERT (Sanh et al., 2019): BERT without types of tokens and without a pooler.
#include "huggingface/architectures.hpp"
#include "huggingface/heads.hpp"
#include "huggingface/masks.hpp"
#include "huggingface/self_attention.hpp"

namespace mase::huggingface {
namespace {

constexpr double distilbert_eps = 1e-12;

struct DistilSizes {
  std::int64_t width, head, hidden, layers, positions;
  double dropout, attention_dropout;
};

DistilSizes distil_sizes(const Config& config) {
  return {.width = config.size("dim"),
          .head = config.quotient("dim", "n_heads"),
          .hidden = config.size("hidden_dim"),
          .layers = config.layers("n_layers"),
          .positions = config.size("max_position_embeddings"),
          .dropout = config.number("dropout", 0.1),
          .attention_dropout = config.number("attention_dropout", 0.1)};
}

Ref distil_embeddings(Builder& b, const std::string& path, const DistilSizes& sizes,
                      const Ref& ids) {
  const Config& config = b.config();
  config.find("sinusoidal_pos_embds");  // sines or not, the file has the table
  b.container(path, "Embeddings");
  const Ref words = b.embedding(path + ".word_embeddings", ids, config.size("vocab_size"),
                                sizes.width, config.integer("pad_token_id", 0));
  const Ref tokens = b.size(words, 1);
  const Ref table = b.constant(path + ".position_ids", numbered(sizes.positions));
  const Ref numbers = b.item(table, {all(), Ref::slice(Ref(), tokens, Ref())});
  const Ref places =
      b.embedding(path + ".position_embeddings", numbers, sizes.positions, sizes.width);
  const Ref normed =
      b.layer_norm(path + ".LayerNorm", b.add(words, places), sizes.width, distilbert_eps);
  return b.dropout(path + ".dropout", normed, sizes.dropout);
}

Ref distil_attention(Builder& b, const std::string& path, const DistilSizes& sizes, const Ref& x,
                     const Ref& mask) {
  b.container(path, "DistilBertSelfAttention");
  b.foreign(path + ".dropout", "torch.nn.modules.dropout.Dropout");
  const Ref joined = self_attention(b, path,
                                    {.projections = {".q_lin", ".k_lin", ".v_lin"},
                                     .width = sizes.width,
                                     .head = sizes.head,
                                     .dropout = sizes.attention_dropout,
                                     .mask = mask},
                                    x);
  return b.linear(path + ".out_lin", joined, sizes.width, sizes.width);
}

Ref distil_layer(Builder& b, const std::string& path, const DistilSizes& sizes, const Ref& x,
                 const Ref& mask) {
  b.container(path, "TransformerBlock");
  const Ref attended = distil_attention(b, path + ".attention", sizes, x, mask);
  const Ref normed =
      b.layer_norm(path + ".sa_layer_norm", b.add(attended, x), sizes.width, distilbert_eps);
  b.container(path + ".ffn", "FFN");
  const Ref wide = b.linear(path + ".ffn.lin1", normed, sizes.width, sizes.hidden);
  const Ref active = b.activation(path + ".ffn.activation", "activation", "gelu", wide);
  const Ref narrow = b.linear(path + ".ffn.lin2", active, sizes.hidden, sizes.width);
  const Ref sum = b.add(b.dropout(path + ".ffn.dropout", narrow, sizes.dropout), normed);
  return b.layer_norm(path + ".output_layer_norm", sum, sizes.width, distilbert_eps);
}

Ref distil_encoder(Builder& b, const std::string& prefix, const std::vector<Ref>& inputs) {
  const DistilSizes sizes = distil_sizes(b.config());
  Ref x = distil_embeddings(b, prefix + "embeddings", sizes, inputs[0]);
  const Ref mask = full_mask(b, x, inputs[1]);
  b.container(prefix + "transformer", "Transformer");
  b.list(prefix + "transformer.layer");
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    x = distil_layer(b, prefix + "transformer.layer." + std::to_string(i), sizes, x, mask);
  return x;
}

std::vector<Ref> distilbert_model(Builder& b, const std::vector<Ref>& inputs) {
  return {distil_encoder(b, "", inputs)};
}

std::vector<Ref> distilbert_classifier(Builder& b, const std::vector<Ref>& inputs) {
  const std::int64_t width = b.config().size("dim");
  b.container("distilbert", "DistilBertModel");
  const Ref first = b.item(distil_encoder(b, "distilbert.", inputs), {all(), 0});
  const Ref dense = b.linear("pre_classifier", first, width, width);
  const Ref active = b.function("torch.nn.functional.relu", "aten::relu", {{"self", dense}});
  const Ref kept = b.dropout("dropout", active, b.config().number("seq_classif_dropout", 0.2));
  return {b.linear("classifier", kept, width, b.config().labels())};
}

std::vector<Ref> distilbert_masked_words(Builder& b, const std::vector<Ref>& inputs) {
  const std::int64_t width = b.config().size("dim");
  b.container("distilbert", "DistilBertModel");
  const Ref x = distil_encoder(b, "distilbert.", inputs);
  b.foreign("mlm_loss_fct", "torch.nn.modules.loss.CrossEntropyLoss");
  const Ref dense = b.linear("vocab_transform", x, width, width);
  const Ref active = b.activation("activation", "activation", "gelu", dense);
  const Ref normed = b.layer_norm("vocab_layer_norm", active, width, distilbert_eps);
  return {b.tied_linear("vocab_projector", normed, "distilbert.embeddings.word_embeddings.weight",
                        "vocab_projector.bias")};
}

std::vector<Ref> distilbert_answers(Builder& b, const std::vector<Ref>& inputs) {
  b.container("distilbert", "DistilBertModel");
  const Ref x = distil_encoder(b, "distilbert.", inputs);
  const Ref kept = b.dropout("dropout", x, b.config().number("qa_dropout", 0.1));
  return answer_places(b, kept, b.config().size("dim"));
}

constexpr std::string_view distilbert_classes =
    "transformers.models.distilbert.modeling_distilbert";

const Architecture distilbert_rows[] = {
    {"DistilBertModel",
     "distilbert",
     distilbert_classes,
     Takes::texts,
     {.base = "distilbert.", .has_head = false},
     distilbert_model},
    {"DistilBertForSequenceClassification",
     "distilbert",
     distilbert_classes,
     Takes::texts,
     {.base = "distilbert."},
     distilbert_classifier},
    {"DistilBertForMaskedLM",
     "distilbert",
     distilbert_classes,
     Takes::texts,
     {.base = "distilbert."},
     distilbert_masked_words},
    {"DistilBertForQuestionAnswering",
     "distilbert",
     distilbert_classes,
     Takes::texts,
     {.base = "distilbert."},
     distilbert_answers},
};

}  // namespace

std::span<const Architecture> distilbert_family() { return distilbert_rows; }

}  // namespace mase::huggingface
