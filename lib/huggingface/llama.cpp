// SPDX-License-Identifier: Apache-2.0
// Decoders after Llama (Touvron et al., 2023): Mistral (Jiang et al., 2023) sees a window of
// tokens, Qwen2 (Yang et al., 2024) has biases for queries, keys and values, and Qwen3 (Yang et
// al., 2025) has norms of queries and keys instead.
#include <cmath>

#include "huggingface/architectures.hpp"
#include "huggingface/heads.hpp"
#include "huggingface/masks.hpp"
#include "huggingface/rotary.hpp"

namespace mase::huggingface {
namespace {

struct LlamaSizes {
  std::int64_t width, head, heads, groups, hidden, layers;
  double eps, dropout;
  bool qkv_bias, output_bias, mlp_bias;
};

/// What the members of the family differ in.
struct LlamaFamily {
  std::string name;  ///< "Llama", the beginning of class names
  void (*biases)(const Config& config, LlamaSizes& sizes);
  /// The window of each layer; nullopt where a layer sees all tokens before it.
  std::vector<std::optional<std::int64_t>> (*windows)(const Config& config, std::int64_t layers);
  bool norms_heads = false;     ///< each query and key goes through a norm
  std::int64_t usual_head = 0;  ///< size of a head without `head_dim`; 0: its share of the width
};

using Windows = std::vector<std::optional<std::int64_t>>;

void llama_biases(const Config& config, LlamaSizes& sizes) {
  sizes.qkv_bias = sizes.output_bias = config.truth("attention_bias", false);
  sizes.mlp_bias = config.truth("mlp_bias", false);
}

void qwen3_biases(const Config& config, LlamaSizes& sizes) {
  sizes.qkv_bias = sizes.output_bias = config.truth("attention_bias", false);
}

void no_biases(const Config&, LlamaSizes&) {}

void qwen2_biases(const Config&, LlamaSizes& sizes) { sizes.qkv_bias = true; }

Windows no_windows(const Config&, std::int64_t layers) {
  return Windows(static_cast<std::size_t>(layers));
}

constexpr std::int64_t usual_window = 4096;

Windows mistral_windows(const Config& config, std::int64_t layers) {
  Windows windows = no_windows(config, layers);
  if (!config.is_none("sliding_window"))
    for (auto& window : windows) window = config.size("sliding_window", usual_window);
  return windows;
}

Windows qwen2_windows(const Config& config, std::int64_t layers) {
  Windows windows = no_windows(config, layers);
  const bool slides = config.truth("use_sliding_window", false);
  const bool has_window = !config.is_none("sliding_window");
  const std::int64_t first = config.integer("max_window_layers", 28);
  const Tree* types = config.find("layer_types");
  if (types && (!types->is_list() || types->size() != windows.size()))
    config.wrong("layer_types", "is not a list with an entry per layer");
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const bool by_number = slides && has_window && static_cast<std::int64_t>(i) >= first;
    const std::string usual = by_number ? "sliding_attention" : "full_attention";
    const std::string type = !types                            ? usual
                             : types->as_list()[i].is_string() ? types->as_list()[i].as_string()
                                                               : "";
    if (type != "full_attention" && type != "sliding_attention")
      config.refuse("layer_types", "full_attention and sliding_attention");
    if (type == "sliding_attention") windows[i] = config.size("sliding_window", usual_window);
  }
  return windows;
}

const LlamaFamily llama{"Llama", llama_biases, no_windows};
const LlamaFamily mistral{"Mistral", no_biases, mistral_windows};
const LlamaFamily qwen2{"Qwen2", qwen2_biases, qwen2_windows};
const LlamaFamily qwen3{"Qwen3", qwen3_biases, qwen2_windows, true, 128};

LlamaSizes llama_sizes(const Config& config, const LlamaFamily& family) {
  const std::int64_t heads = config.size("num_attention_heads");
  const std::int64_t groups = config.size("num_key_value_heads", heads);
  if (heads % groups != 0)
    config.wrong("num_key_value_heads", "does not divide 'num_attention_heads'");
  const std::int64_t head = config.find("head_dim") || family.usual_head > 0
                                ? config.size("head_dim", family.usual_head)
                                : config.quotient("hidden_size", "num_attention_heads");
  LlamaSizes sizes{.width = config.size("hidden_size"),
                   .head = head,
                   .heads = heads,
                   .groups = groups,
                   .hidden = config.size("intermediate_size"),
                   .layers = config.layers("num_hidden_layers"),
                   .eps = config.number("rms_norm_eps", 1e-6),
                   .dropout = config.number("attention_dropout", 0),
                   .qkv_bias = false,
                   .output_bias = false,
                   .mlp_bias = false};
  family.biases(config, sizes);
  return sizes;
}

/// weight * x / sqrt(mean(x^2) + eps). A trace goes on with the converted x afterwards.
Ref rms_norm(Builder& b, const LlamaFamily& family, const std::string& path, std::int64_t width,
             double eps, Ref& x) {
  b.container(path, family.name + "RMSNorm");
  x = b.to(x, DType::float32);
  const Ref mean =
      b.method("mean", "aten::mean.dim",
               {{"self", b.power(x, 2)}, {"dim", Ref::list({Ref(-1)})}, {"keepdim", true}});
  const Ref scaled = b.multiply(x, b.unary("rsqrt", b.add(mean, eps)));
  const Ref normed = b.to(scaled, DType::float32);
  return b.multiply(b.tensor(path + ".weight", {width}), normed);
}

/// Repeats the heads of each group for the queries that it serves.
Ref repeat_groups(Builder& b, const LlamaSizes& sizes, const Ref& x) {
  const std::int64_t times = sizes.heads / sizes.groups;
  if (times == 1) return x;
  const Ref rows = b.size(x, 0), groups = b.size(x, 1), tokens = b.size(x, 2), size = b.size(x, 3);
  const Ref wide =
      b.expand(b.item(x, {all(), all(), Ref(), all(), all()}), {rows, groups, times, tokens, size});
  return b.reshape(wide, {rows, b.host("mul", groups, times), tokens, size});
}

Ref llama_attention(Builder& b, const LlamaFamily& family, const std::string& path,
                    const LlamaSizes& sizes, const Ref& x, const Rotary& rotary, const Ref& mask) {
  b.container(path, family.name + "Attention");
  const Ref rows = b.size(x, 0), tokens = b.size(x, 1);
  const auto heads = [&](const char* part, std::int64_t count, const char* norm = nullptr) {
    const Ref together = b.linear(path + part, x, sizes.width, count * sizes.head, sizes.qkv_bias);
    Ref each = b.view(together, {rows, tokens, -1, sizes.head});
    if (family.norms_heads && norm)
      each = rms_norm(b, family, path + norm, sizes.head, sizes.eps, each);
    return b.transpose(each, 1, 2);
  };
  Attention attention;
  attention.query = heads(".q_proj", sizes.heads, ".q_norm");
  attention.key = heads(".k_proj", sizes.groups, ".k_norm");
  attention.value = heads(".v_proj", sizes.groups);
  rotate(b, rotary, attention.query, attention.key);
  attention.key = repeat_groups(b, sizes, attention.key);
  attention.value = repeat_groups(b, sizes, attention.value);
  attention.mask = mask;
  attention.scaling = std::pow(sizes.head, -0.5);
  attention.dropout = sizes.dropout;
  attention.softmax = Softmax::float32;
  const Ref mean = b.contiguous(b.attend(attention));
  const Ref joined = b.contiguous(b.reshape(mean, {rows, tokens, -1}));
  return b.linear(path + ".o_proj", joined, sizes.heads * sizes.head, sizes.width,
                  sizes.output_bias);
}

/// down(act(gate(x)) * up(x))
Ref gated_perceptron(Builder& b, const LlamaFamily& family, const std::string& path,
                     const LlamaSizes& sizes, const Ref& x) {
  b.container(path, family.name + "MLP");
  const Ref gate = b.linear(path + ".gate_proj", x, sizes.width, sizes.hidden, sizes.mlp_bias);
  const Ref active = b.activation(path + ".act_fn", "hidden_act", "silu", gate);
  const Ref up = b.linear(path + ".up_proj", x, sizes.width, sizes.hidden, sizes.mlp_bias);
  return b.linear(path + ".down_proj", b.multiply(active, up), sizes.hidden, sizes.width,
                  sizes.mlp_bias);
}

/// The masks by window, those of all tokens first, as transformers makes them.
class LlamaMasks {
 public:
  LlamaMasks(Builder& b, const Windows& windows, const Ref& x, const Ref& attention_mask) {
    for (const bool slides : {false, true})
      for (const auto& window : windows)
        if (window.has_value() == slides && !made_.contains(window))
          made_.emplace(window, causal_mask(b, x, attention_mask, window));
  }
  const Ref& of(const std::optional<std::int64_t>& window) const { return made_.at(window); }

 private:
  std::map<std::optional<std::int64_t>, Ref> made_;
};

Ref llama_decoder(Builder& b, const LlamaFamily& family, const std::string& prefix,
                  const std::vector<Ref>& inputs) {
  const Config& config = b.config();
  const LlamaSizes sizes = llama_sizes(config, family);
  const Windows windows = family.windows(config, sizes.layers);
  Ref x = b.embedding(prefix + "embed_tokens", inputs[0], config.size("vocab_size"), sizes.width,
                      config.integer("pad_token_id", -1));
  const Ref positions = b.unsqueeze(b.add(b.arange(b.size(x, 1)), 0), 0);
  const LlamaMasks masks(b, windows, x, inputs[1]);
  const Rotary rotary = rotary_tables(b, prefix + "rotary_emb", family.name + "RotaryEmbedding",
                                      positions, sizes.head);
  b.list(prefix + "layers");
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string path = prefix + "layers." + std::to_string(i);
    b.container(path, family.name + "DecoderLayer");
    const Ref first = rms_norm(b, family, path + ".input_layernorm", sizes.width, sizes.eps, x);
    const Ref& mask = masks.of(windows[static_cast<std::size_t>(i)]);
    x = b.add(x, llama_attention(b, family, path + ".self_attn", sizes, first, rotary, mask));
    const Ref second =
        rms_norm(b, family, path + ".post_attention_layernorm", sizes.width, sizes.eps, x);
    x = b.add(x, gated_perceptron(b, family, path + ".mlp", sizes, second));
  }
  return rms_norm(b, family, prefix + "norm", sizes.width, sizes.eps, x);
}

template <const LlamaFamily& family>
std::vector<Ref> llama_model(Builder& b, const std::vector<Ref>& inputs) {
  return {llama_decoder(b, family, "", inputs)};
}

template <const LlamaFamily& family>
std::vector<Ref> llama_language_model(Builder& b, const std::vector<Ref>& inputs) {
  b.container("model", family.name + "Model");
  const Ref x = llama_decoder(b, family, "model.", inputs);
  return {b.word_scores(x, "model.embed_tokens.weight", b.config().size("hidden_size"), false)};
}

template <const LlamaFamily& family>
std::vector<Ref> llama_classifier(Builder& b, const std::vector<Ref>& inputs) {
  b.container("model", family.name + "Model");
  const Ref x = llama_decoder(b, family, "model.", inputs);
  return {last_token_label(b, inputs[0], x, b.config().size("hidden_size"))};
}

/// Older files have the frequencies of each layer.
constexpr std::string_view llama_unused[] = {"rotary_emb.inv_freq"};
constexpr Naming with_head{.base = "model.", .unused = llama_unused};
constexpr Naming without_head{.base = "model.", .has_head = false, .unused = llama_unused};

const Architecture llama_rows[] = {
    {"LlamaModel", "llama", "transformers.models.llama.modeling_llama", Takes::texts, without_head,
     llama_model<llama>},
    {"LlamaForCausalLM", "llama", "transformers.models.llama.modeling_llama", Takes::texts,
     with_head, llama_language_model<llama>},
    {"LlamaForSequenceClassification", "llama", "transformers.models.llama.modeling_llama",
     Takes::texts, with_head, llama_classifier<llama>},
    {"MistralModel", "mistral", "transformers.models.mistral.modeling_mistral", Takes::texts,
     without_head, llama_model<mistral>},
    {"MistralForCausalLM", "mistral", "transformers.models.mistral.modeling_mistral", Takes::texts,
     with_head, llama_language_model<mistral>},
    {"MistralForSequenceClassification", "mistral", "transformers.models.mistral.modeling_mistral",
     Takes::texts, with_head, llama_classifier<mistral>},
    {"Qwen2Model", "qwen2", "transformers.models.qwen2.modeling_qwen2", Takes::texts, without_head,
     llama_model<qwen2>},
    {"Qwen2ForCausalLM", "qwen2", "transformers.models.qwen2.modeling_qwen2", Takes::texts,
     with_head, llama_language_model<qwen2>},
    {"Qwen2ForSequenceClassification", "qwen2", "transformers.models.qwen2.modeling_qwen2",
     Takes::texts, with_head, llama_classifier<qwen2>},
    {"Qwen3Model", "qwen3", "transformers.models.qwen3.modeling_qwen3", Takes::texts, without_head,
     llama_model<qwen3>},
    {"Qwen3ForCausalLM", "qwen3", "transformers.models.qwen3.modeling_qwen3", Takes::texts,
     with_head, llama_language_model<qwen3>},
    {"Qwen3ForSequenceClassification", "qwen3", "transformers.models.qwen3.modeling_qwen3",
     Takes::texts, with_head, llama_classifier<qwen3>},
};

}  // namespace

std::span<const Architecture> llama_family() { return llama_rows; }

}  // namespace mase::huggingface
