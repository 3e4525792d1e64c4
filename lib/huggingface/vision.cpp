// SPDX-License-Identifier: Apache-2.0
// Vision transformers: ViT (Dosovitskiy et al., ICLR 2021), and DeiT (Touvron et al., ICML 2021),
// which has a second token for distillation.
#include "huggingface/architectures.hpp"
#include "huggingface/heads.hpp"
#include "huggingface/self_attention.hpp"

namespace mase::huggingface {
namespace {

struct VisionFamily {
  std::string name;  ///< "ViT", the beginning of class names
  bool distilled;
};
const VisionFamily vit{"ViT", false}, deit{"DeiT", true};

struct VisionSizes {
  std::int64_t width, head, hidden, layers, patches;
  double eps, dropout, attention_dropout;
  bool bias;
};

VisionSizes vision_sizes(const Config& config) {
  const auto [height, width] = config.sides("image_size");
  const auto [patch_height, patch_width] = config.sides("patch_size");
  return {.width = config.size("hidden_size"),
          .head = config.quotient("hidden_size", "num_attention_heads"),
          .hidden = config.size("intermediate_size"),
          .layers = config.layers("num_hidden_layers"),
          .patches = (height / patch_height) * (width / patch_width),
          .eps = config.number("layer_norm_eps", 1e-12),
          .dropout = config.number("hidden_dropout_prob", 0),
          .attention_dropout = config.number("attention_probs_dropout_prob", 0),
          .bias = config.truth("qkv_bias", true)};
}

/// Patches [batch, patches, width] of the images.
Ref patch_embeddings(Builder& b, const VisionFamily& family, const std::string& path,
                     const VisionSizes& sizes, const Ref& images) {
  b.container(path, family.name + "PatchEmbeddings");
  const auto patch = b.config().sides("patch_size");
  const Ref parts = b.convolution(path + ".projection", images,
                                  {.inputs = b.config().size("num_channels", 3),
                                   .outputs = sizes.width,
                                   .kernel = patch,
                                   .stride = patch,
                                   .padding = {0, 0}});
  const Ref flat =
      b.function("torch.flatten", "aten::flatten.using_ints", {{"self", parts}, {"start_dim", 2}});
  return b.transpose(flat, 1, 2);
}

Ref vision_embeddings(Builder& b, const VisionFamily& family, const std::string& path,
                      const VisionSizes& sizes, const Ref& images) {
  b.container(path, family.name + "Embeddings");
  Ref rows;
  if (!family.distilled) rows = b.size(images, 0);
  const Ref patches = patch_embeddings(b, family, path + ".patch_embeddings", sizes, images);
  if (family.distilled) rows = b.size(patches, 0);
  std::vector<Ref> parts;
  const auto add_token = [&](const char* name) {
    parts.push_back(b.expand(b.tensor(path + name, {1, 1, sizes.width}), {rows, -1, -1}));
  };
  add_token(".cls_token");
  if (family.distilled) add_token(".distillation_token");
  const auto tokens = static_cast<std::int64_t>(parts.size()) + sizes.patches;
  parts.push_back(patches);
  const Ref all_tokens = b.cat(parts, 1);
  const Ref places = b.tensor(path + ".position_embeddings", {1, tokens, sizes.width});
  return b.dropout(path + ".dropout", b.add(all_tokens, places), sizes.dropout);
}

Ref vision_attention(Builder& b, const VisionFamily& family, const std::string& path,
                     const VisionSizes& sizes, const Ref& x) {
  b.container(path, family.name + "Attention");
  const Ref joined = self_attention(b, path,
                                    {.projections = {".q_proj", ".k_proj", ".v_proj"},
                                     .width = sizes.width,
                                     .head = sizes.head,
                                     .dropout = sizes.attention_dropout,
                                     .bias = sizes.bias,
                                     .softmax = Softmax::float32},
                                    x);
  return b.linear(path + ".o_proj", joined, sizes.width, sizes.width);
}

/// x + attention(norm(x)), then x + perceptron(norm(x)).
Ref vision_layer(Builder& b, const VisionFamily& family, const std::string& path,
                 const VisionSizes& sizes, const Ref& x) {
  b.container(path, family.name + "Layer");
  const Ref before = b.layer_norm(path + ".layernorm_before", x, sizes.width, sizes.eps);
  const Ref attended = vision_attention(b, family, path + ".attention", sizes, before);
  const Ref middle = b.add(b.dropout(path + ".dropout", attended, sizes.dropout), x);
  const Ref after = b.layer_norm(path + ".layernorm_after", middle, sizes.width, sizes.eps);
  b.container(path + ".mlp", family.name + "MLP");
  const Ref wide = b.linear(path + ".mlp.fc1", after, sizes.width, sizes.hidden);
  const Ref active = b.activation(path + ".mlp.activation_fn", "hidden_act", "gelu", wide);
  const Ref narrow = b.linear(path + ".mlp.fc2", active, sizes.hidden, sizes.width);
  return b.add(b.dropout(path + ".dropout", narrow, sizes.dropout), middle);
}

Ref vision_encoder(Builder& b, const VisionFamily& family, const std::string& prefix,
                   const std::vector<Ref>& inputs) {
  const VisionSizes sizes = vision_sizes(b.config());
  Ref x = vision_embeddings(b, family, prefix + "embeddings", sizes, inputs[0]);
  b.list(prefix + "layers");
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    x = vision_layer(b, family, prefix + "layers." + std::to_string(i), sizes, x);
  return b.layer_norm(prefix + "layernorm", x, sizes.width, sizes.eps);
}

/// The label of the first token.
std::vector<Ref> vision_classifier(Builder& b, const VisionFamily& family, const std::string& base,
                                   const std::vector<Ref>& inputs) {
  b.container(base, family.name + "Model");
  const Ref x = vision_encoder(b, family, base + ".", inputs);
  const Ref first = b.item(x, {all(), 0, all()});
  return {b.linear("classifier", first, b.config().size("hidden_size"), b.config().labels())};
}

/// The mean of what both tokens say, then what each says.
std::vector<Ref> deit_with_teacher(Builder& b, const std::vector<Ref>& inputs) {
  b.container("deit", "DeiTModel");
  const Ref x = vision_encoder(b, deit, "deit.", inputs);
  const auto label = [&](const char* path, int token) {
    const Ref state = b.item(x, {all(), token, all()});
    return b.linear(path, state, b.config().size("hidden_size"), b.config().labels());
  };
  const Ref first = label("cls_classifier", 0), second = label("distillation_classifier", 1);
  return {b.binary("truediv", b.add(first, second), 2), first, second};
}

/// The last hidden states, and act(dense(first token)) if the model has a pooler.
template <const VisionFamily& family>
std::vector<Ref> vision_model(Builder& b, const std::vector<Ref>& inputs) {
  const std::int64_t width = b.config().size("hidden_size");
  const Ref x = vision_encoder(b, family, "", inputs);
  return with_pooler(b, x, [&] {
    b.container("pooler", family.name + "Pooler");
    const Ref dense = b.linear("pooler.dense", b.item(x, {all(), 0}), width,
                               b.config().size("pooler_output_size", width));
    return b.activation("pooler.activation", "pooler_act", "tanh", dense);
  });
}

std::vector<Ref> vit_classifier(Builder& b, const std::vector<Ref>& inputs) {
  return vision_classifier(b, vit, "vit", inputs);
}

std::vector<Ref> deit_classifier(Builder& b, const std::vector<Ref>& inputs) {
  return vision_classifier(b, deit, "deit", inputs);
}

/// Names up to version 4 of transformers, which files still have.
constexpr Renaming vision_older[] = {{"encoder.layer.", "layers."},
                                     {"attention.attention.query", "attention.q_proj"},
                                     {"attention.attention.key", "attention.k_proj"},
                                     {"attention.attention.value", "attention.v_proj"},
                                     {"attention.output.dense", "attention.o_proj"},
                                     {"intermediate.dense", "mlp.fc1"},
                                     {"output.dense", "mlp.fc2"}};

const Architecture vision_rows[] = {
    {"ViTModel",
     "vit",
     "transformers.models.vit.modeling_vit",
     Takes::images,
     {.base = "vit.", .has_head = false, .older = vision_older},
     vision_model<vit>},
    {"DeiTModel",
     "deit",
     "transformers.models.deit.modeling_deit",
     Takes::images,
     {.base = "deit.", .has_head = false, .older = vision_older},
     vision_model<deit>},
    {"ViTForImageClassification",
     "vit",
     "transformers.models.vit.modeling_vit",
     Takes::images,
     {.base = "vit.", .older = vision_older},
     vit_classifier},
    {"DeiTForImageClassification",
     "deit",
     "transformers.models.deit.modeling_deit",
     Takes::images,
     {.base = "deit.", .older = vision_older},
     deit_classifier},
    {"DeiTForImageClassificationWithTeacher",
     "deit",
     "transformers.models.deit.modeling_deit",
     Takes::images,
     {.base = "deit.", .older = vision_older},
     deit_with_teacher,
     nullptr,
     false,
     true},
};

}  // namespace

std::span<const Architecture> vision_family() { return vision_rows; }

}  // namespace mase::huggingface
