// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al., NAACL 2019) and RoBERTa (Liu et al., 2019), which counts positions from the
// padding on. XLM-RoBERTa (Conneau et al., ACL 2020) and CamemBERT (Martin et al., ACL 2020) are
// RoBERTa with other words.
#include "huggingface/architectures.hpp"
#include "huggingface/heads.hpp"
#include "huggingface/masks.hpp"
#include "huggingface/self_attention.hpp"

namespace mase::huggingface {
namespace {

/// What the members of the family differ in.
struct BertFamily {
  std::string name;  ///< "Bert", the beginning of class names
  bool positions_after_padding;
};
const BertFamily bert{"Bert", false}, roberta{"Roberta", true}, xlm_roberta{"XLMRoberta", true},
    camembert{"Camembert", true};

struct BertSizes {
  std::int64_t width, head, hidden, layers, positions, vocabulary, types, padding;
  double eps, dropout, attention_dropout;
};

BertSizes bert_sizes(const Config& config, const BertFamily& family) {
  config.require("position_embedding_type", "absolute");
  return {.width = config.size("hidden_size"),
          .head = config.quotient("hidden_size", "num_attention_heads"),
          .hidden = config.size("intermediate_size"),
          .layers = config.layers("num_hidden_layers"),
          .positions = config.size("max_position_embeddings"),
          .vocabulary = config.size("vocab_size"),
          .types = config.size("type_vocab_size", 2),
          .padding = config.integer("pad_token_id", family.positions_after_padding ? 1 : 0),
          .eps = config.number("layer_norm_eps", 1e-12),
          .dropout = config.number("hidden_dropout_prob", 0.1),
          .attention_dropout = config.number("attention_probs_dropout_prob", 0.1)};
}

/// Positions [1, tokens] of a table.
Ref table_positions(Builder& b, const std::string& path, const Array& numbers, const Ref& tokens) {
  const Ref end = b.host("add", tokens, 0);
  const Ref table = b.constant(path + ".position_ids", numbers);
  return b.item(table, {all(), Ref::slice(Ref(), end, Ref())});
}

/// Positions [batch, tokens] that count the tokens other than padding.
Ref counted_positions(Builder& b, const BertSizes& sizes, const Ref& ids) {
  const Ref real = b.to(b.binary("ne", ids, sizes.padding), DType::int32);
  const Ref count = b.method("cumsum", "aten::cumsum", {{"self", real}, {"dim", 1}});
  const Ref narrow = b.method("type_as", "aten::type_as", {{"self", count}, {"other", real}});
  const Ref wide = b.to(b.multiply(b.add(narrow, 0), real), DType::int64);
  return b.add(wide, sizes.padding);
}

/// The type 0 for every token, [batch, tokens], from the table of all positions.
Ref table_types(Builder& b, const BertFamily& family, const std::string& path,
                const BertSizes& sizes, const Ref& positions, const std::vector<Ref>& shape) {
  Ref types = b.constant(path + ".token_type_ids", zeros({1, sizes.positions}));
  if (family.positions_after_padding) types = b.to_layout(types, DType::int64);
  types = b.expand(types, {b.size(positions, 0), -1});
  types = b.method("gather", "aten::gather", {{"self", types}, {"dim", 1}, {"index", positions}});
  return b.expand(types, shape);
}

/// `given_types` are those of the tokens, or None.
Ref bert_embeddings(Builder& b, const BertFamily& family, const std::string& path,
                    const BertSizes& sizes, const Ref& ids, const Ref& given_types) {
  b.container(path, family.name + "Embeddings");
  const Array numbers = numbered(sizes.positions);
  b.buffer(path + ".position_ids", numbers);
  Ref positions;
  if (family.positions_after_padding) positions = counted_positions(b, sizes, ids);
  const Ref rows = given_types.is_none() ? b.size(ids, 0) : Ref();
  const Ref tokens = b.size(ids, 1);
  if (!family.positions_after_padding) positions = table_positions(b, path, numbers, tokens);
  if (!given_types.is_none()) b.buffer(path + ".token_type_ids", zeros({1, sizes.positions}));
  const Ref types = given_types.is_none()
                        ? table_types(b, family, path, sizes, positions, {rows, tokens})
                        : given_types;
  const Ref words =
      b.embedding(path + ".word_embeddings", ids, sizes.vocabulary, sizes.width, sizes.padding);
  const Ref sum =
      b.add(words, b.embedding(path + ".token_type_embeddings", types, sizes.types, sizes.width));
  const Ref places = b.embedding(path + ".position_embeddings", positions, sizes.positions,
                                 sizes.width, family.positions_after_padding ? sizes.padding : -1);
  const Ref normed = b.layer_norm(path + ".LayerNorm", b.add(sum, places), sizes.width, sizes.eps);
  return b.dropout(path + ".dropout", normed, sizes.dropout);
}

Ref bert_attention(Builder& b, const BertFamily& family, const std::string& path,
                   const BertSizes& sizes, const Ref& x, const Ref& mask) {
  b.container(path, family.name + "SelfAttention");
  b.foreign(path + ".dropout", "torch.nn.modules.dropout.Dropout");
  return self_attention(b, path,
                        {.projections = {".query", ".key", ".value"},
                         .width = sizes.width,
                         .head = sizes.head,
                         .dropout = sizes.attention_dropout,
                         .mask = mask},
                        x);
}

/// norm(x + dropout(dense(inner)))
Ref add_and_norm(Builder& b, const std::string& path, const BertSizes& sizes, const Ref& inner,
                 std::int64_t inputs, const Ref& x) {
  const Ref dense = b.linear(path + ".dense", inner, inputs, sizes.width);
  const Ref sum = b.add(b.dropout(path + ".dropout", dense, sizes.dropout), x);
  return b.layer_norm(path + ".LayerNorm", sum, sizes.width, sizes.eps);
}

Ref bert_layer(Builder& b, const BertFamily& family, const std::string& path,
               const BertSizes& sizes, const Ref& x, const Ref& mask) {
  b.container(path, family.name + "Layer");
  b.container(path + ".attention", family.name + "Attention");
  const Ref mean = bert_attention(b, family, path + ".attention.self", sizes, x, mask);
  b.container(path + ".attention.output", family.name + "SelfOutput");
  const Ref attended = add_and_norm(b, path + ".attention.output", sizes, mean, sizes.width, x);
  b.container(path + ".intermediate", family.name + "Intermediate");
  const Ref wide = b.linear(path + ".intermediate.dense", attended, sizes.width, sizes.hidden);
  const Ref active =
      b.activation(path + ".intermediate.intermediate_act_fn", "hidden_act", "gelu", wide);
  b.container(path + ".output", family.name + "Output");
  return add_and_norm(b, path + ".output", sizes, active, sizes.hidden, attended);
}

/// The last hidden states; `prefix` is "" or the path of the model inside of one with a head.
Ref bert_encoder(Builder& b, const BertFamily& family, const std::string& prefix,
                 const std::vector<Ref>& inputs) {
  const BertSizes sizes = bert_sizes(b.config(), family);
  Ref x = bert_embeddings(b, family, prefix + "embeddings", sizes, inputs[0], inputs[2]);
  const Ref mask = full_mask(b, x, inputs[1]);
  b.container(prefix + "encoder", family.name + "Encoder");
  b.list(prefix + "encoder.layer");
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    x = bert_layer(b, family, prefix + "encoder.layer." + std::to_string(i), sizes, x, mask);
  return x;
}

/// tanh(dense(x[:, 0]))
Ref bert_pooler(Builder& b, const BertFamily& family, const std::string& path, const Ref& x) {
  const std::int64_t width = b.config().size("hidden_size");
  b.container(path, family.name + "Pooler");
  const Ref first = b.item(x, {all(), 0});
  const Ref dense = b.linear(path + ".dense", first, width, width);
  return b.layer(path + ".activation", "activation.Tanh", "aten::tanh", dense);
}

double head_dropout(const Config& config) {
  return config.number("classifier_dropout", config.number("hidden_dropout_prob", 0.1));
}

std::vector<Ref> bert_model(Builder& b, const std::vector<Ref>& inputs) {
  const Ref x = bert_encoder(b, bert, "", inputs);
  return with_pooler(b, x, [&] { return bert_pooler(b, bert, "pooler", x); });
}

template <const BertFamily& family>
std::vector<Ref> roberta_model(Builder& b, const std::vector<Ref>& inputs) {
  const Ref x = bert_encoder(b, family, "", inputs);
  return with_pooler(b, x, [&] { return bert_pooler(b, family, "pooler", x); });
}

std::vector<Ref> bert_classifier(Builder& b, const std::vector<Ref>& inputs) {
  b.container("bert", "BertModel");
  const Ref x = bert_encoder(b, bert, "bert.", inputs);
  const Ref pooled =
      b.dropout("dropout", bert_pooler(b, bert, "bert.pooler", x), head_dropout(b.config()));
  return {b.linear("classifier", pooled, b.config().size("hidden_size"), b.config().labels())};
}

template <const BertFamily& family>
std::vector<Ref> roberta_classifier(Builder& b, const std::vector<Ref>& inputs) {
  const std::int64_t width = b.config().size("hidden_size");
  b.container("roberta", family.name + "Model");
  const Ref x = bert_encoder(b, family, "roberta.", inputs);
  b.container("classifier", family.name + "ClassificationHead");
  const double rate = head_dropout(b.config());
  Ref first = b.item(x, {all(), 0, all()});
  first = b.dropout("classifier.dropout", first, rate);
  const Ref dense = b.unary("tanh", b.linear("classifier.dense", first, width, width));
  return {b.linear("classifier.out_proj", b.dropout("classifier.dropout", dense, rate), width,
                   b.config().labels())};
}

/// norm(act(dense(x)))
Ref bert_transform(Builder& b, const std::string& path, const Ref& x) {
  const std::int64_t width = b.config().size("hidden_size");
  b.container(path, "BertPredictionHeadTransform");
  const Ref dense = b.linear(path + ".dense", x, width, width);
  const Ref active = b.activation(path + ".transform_act_fn", "hidden_act", "gelu", dense);
  return b.layer_norm(path + ".LayerNorm", active, width,
                      b.config().number("layer_norm_eps", 1e-12));
}

std::vector<Ref> bert_masked_words(Builder& b, const std::vector<Ref>& inputs) {
  b.container("bert", "BertModel");
  const Ref x = bert_encoder(b, bert, "bert.", inputs);
  b.container("cls", "BertOnlyMLMHead");
  b.container("cls.predictions", "BertLMPredictionHead");
  return {b.tied_linear("cls.predictions.decoder",
                        bert_transform(b, "cls.predictions.transform", x),
                        "bert.embeddings.word_embeddings.weight", "cls.predictions.bias")};
}

template <const BertFamily& family>
std::vector<Ref> roberta_masked_words(Builder& b, const std::vector<Ref>& inputs) {
  const std::int64_t width = b.config().size("hidden_size");
  b.container("roberta", family.name + "Model");
  const Ref x = bert_encoder(b, family, "roberta.", inputs);
  b.container("lm_head", family.name + "LMHead");
  const Ref dense = b.linear("lm_head.dense", x, width, width);
  const Ref active = b.function("torch._C._nn.gelu", "aten::gelu", {{"self", dense}});
  const double eps = b.config().number("layer_norm_eps", 1e-12);
  return {b.tied_linear("lm_head.decoder", b.layer_norm("lm_head.layer_norm", active, width, eps),
                        "roberta.embeddings.word_embeddings.weight", "lm_head.bias")};
}

/// The encoder of a model with one of the heads of heads.hpp.
Ref bert_body(Builder& b, const BertFamily& family, const std::vector<Ref>& inputs) {
  const std::string base = family.positions_after_padding ? "roberta" : "bert";
  b.container(base, family.name + "Model");
  return bert_encoder(b, family, base + ".", inputs);
}

template <const BertFamily& family>
std::vector<Ref> bert_tokens(Builder& b, const std::vector<Ref>& inputs) {
  const Ref x = bert_body(b, family, inputs);
  return {token_labels(b, x, b.config().size("hidden_size"), head_dropout(b.config()))};
}

template <const BertFamily& family>
std::vector<Ref> bert_answers(Builder& b, const std::vector<Ref>& inputs) {
  const Ref x = bert_body(b, family, inputs);
  return answer_places(b, x, b.config().size("hidden_size"));
}

std::int64_t roberta_first_position(const Config& config) {
  return config.integer("pad_token_id", 1) + 1;
}

constexpr std::string_view bert_classes = "transformers.models.bert.modeling_bert";
/// Older files have the numbers of positions, and files of pretraining heads that others lack.
constexpr std::string_view bert_unused[] = {"embeddings.position_ids"};
constexpr std::string_view headless_unused[] = {
    "embeddings.position_ids",     "bert.pooler.dense.weight",  "bert.pooler.dense.bias",
    "roberta.pooler.dense.weight", "roberta.pooler.dense.bias", "cls.seq_relationship.weight",
    "cls.seq_relationship.bias"};

/// The row of RoBERTa or of a model like it.
constexpr Architecture roberta_row(std::string_view name, std::string_view type,
                                   std::string_view classes,
                                   std::vector<Ref> (*build)(Builder&, const std::vector<Ref>&),
                                   std::span<const std::string_view> unused, bool has_head = true) {
  return {name,
          type,
          classes,
          Takes::texts,
          {.base = "roberta.", .has_head = has_head, .unused = unused},
          build,
          roberta_first_position};
}

const Architecture bert_rows[] = {
    {"BertModel",
     "bert",
     bert_classes,
     Takes::texts,
     {.base = "bert.", .has_head = false, .unused = bert_unused},
     bert_model,
     nullptr,
     true},
    {"BertForSequenceClassification",
     "bert",
     bert_classes,
     Takes::texts,
     {.base = "bert.", .unused = bert_unused},
     bert_classifier,
     nullptr,
     true},
    {"BertForMaskedLM",
     "bert",
     bert_classes,
     Takes::texts,
     {.base = "bert.", .unused = headless_unused},
     bert_masked_words,
     nullptr,
     true},
    {"BertForTokenClassification",
     "bert",
     bert_classes,
     Takes::texts,
     {.base = "bert.", .unused = headless_unused},
     bert_tokens<bert>,
     nullptr,
     true},
    {"BertForQuestionAnswering",
     "bert",
     bert_classes,
     Takes::texts,
     {.base = "bert.", .unused = headless_unused},
     bert_answers<bert>,
     nullptr,
     true},
    roberta_row("RobertaModel", "roberta", "transformers.models.roberta.modeling_roberta",
                roberta_model<roberta>, bert_unused, false),
    roberta_row("RobertaForSequenceClassification", "roberta",
                "transformers.models.roberta.modeling_roberta", roberta_classifier<roberta>,
                bert_unused),
    roberta_row("RobertaForMaskedLM", "roberta", "transformers.models.roberta.modeling_roberta",
                roberta_masked_words<roberta>, headless_unused),
    roberta_row("RobertaForTokenClassification", "roberta",
                "transformers.models.roberta.modeling_roberta", bert_tokens<roberta>,
                headless_unused),
    roberta_row("RobertaForQuestionAnswering", "roberta",
                "transformers.models.roberta.modeling_roberta", bert_answers<roberta>,
                headless_unused),
    roberta_row("XLMRobertaModel", "xlm-roberta",
                "transformers.models.xlm_roberta.modeling_xlm_roberta", roberta_model<xlm_roberta>,
                bert_unused, false),
    roberta_row("XLMRobertaForSequenceClassification", "xlm-roberta",
                "transformers.models.xlm_roberta.modeling_xlm_roberta",
                roberta_classifier<xlm_roberta>, bert_unused),
    roberta_row("XLMRobertaForMaskedLM", "xlm-roberta",
                "transformers.models.xlm_roberta.modeling_xlm_roberta",
                roberta_masked_words<xlm_roberta>, headless_unused),
    roberta_row("XLMRobertaForTokenClassification", "xlm-roberta",
                "transformers.models.xlm_roberta.modeling_xlm_roberta", bert_tokens<xlm_roberta>,
                headless_unused),
    roberta_row("XLMRobertaForQuestionAnswering", "xlm-roberta",
                "transformers.models.xlm_roberta.modeling_xlm_roberta", bert_answers<xlm_roberta>,
                headless_unused),
    roberta_row("CamembertModel", "camembert", "transformers.models.camembert.modeling_camembert",
                roberta_model<camembert>, bert_unused, false),
    roberta_row("CamembertForSequenceClassification", "camembert",
                "transformers.models.camembert.modeling_camembert", roberta_classifier<camembert>,
                bert_unused),
    roberta_row("CamembertForMaskedLM", "camembert",
                "transformers.models.camembert.modeling_camembert", roberta_masked_words<camembert>,
                headless_unused),
    roberta_row("CamembertForTokenClassification", "camembert",
                "transformers.models.camembert.modeling_camembert", bert_tokens<camembert>,
                headless_unused),
    roberta_row("CamembertForQuestionAnswering", "camembert",
                "transformers.models.camembert.modeling_camembert", bert_answers<camembert>,
                headless_unused),
};

}  // namespace

std::span<const Architecture> bert_family() { return bert_rows; }

}  // namespace mase::huggingface
