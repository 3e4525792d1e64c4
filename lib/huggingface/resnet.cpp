// SPDX-License-Identifier: Apache-2.0
// ResNet (He et al., CVPR 2016).
#include "huggingface/architectures.hpp"

namespace mase::huggingface {
namespace {

struct Block {
  std::int64_t inputs, outputs, stride;
};

std::pair<std::int64_t, std::int64_t> square(std::int64_t side) { return {side, side}; }

void identity(Builder& b, const std::string& path) {
  b.foreign(path, "torch.nn.modules.linear.Identity");
}

Ref relu(Builder& b, const std::string& path, const Ref& x) {
  return b.layer(path, "activation.ReLU", "aten::relu", x);
}

/// norm(convolution(x))
Ref normed_convolution(Builder& b, const std::string& path, const Ref& x, const Block& block,
                       std::int64_t kernel) {
  const Ref y = b.convolution(path + ".convolution", x,
                              {.inputs = block.inputs,
                               .outputs = block.outputs,
                               .kernel = square(kernel),
                               .stride = square(block.stride),
                               .padding = square(kernel / 2),
                               .bias = false});
  return b.batch_norm(path + ".normalization", y, block.outputs);
}

/// Convolutions one after the other; the last one has no activation.
Ref convolutions(Builder& b, const std::string& path, Ref x, const std::vector<Block>& blocks,
                 const std::vector<std::int64_t>& kernels) {
  b.foreign(path, "torch.nn.modules.container.Sequential");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string one = path + "." + std::to_string(i);
    b.container(one, "ResNetConvLayer");
    x = normed_convolution(b, one, x, blocks[i], kernels[i]);
    if (i + 1 < blocks.size())
      x = relu(b, one + ".activation", x);
    else
      identity(b, one + ".activation");
  }
  return x;
}

/// Three convolutions, of which the one in the middle has a quarter of the channels. The first one
/// has the stride if it is to have it early.
Ref bottleneck(Builder& b, const std::string& path, const Ref& x, const Block& block, bool early) {
  constexpr std::int64_t reduction = 4;
  const std::int64_t few = block.outputs / reduction;
  b.container(path, "ResNetBottleNeckLayer");
  return convolutions(b, path + ".layer", x,
                      {{block.inputs, few, early ? block.stride : 1},
                       {few, few, early ? 1 : block.stride},
                       {few, block.outputs, 1}},
                      {1, 3, 1});
}

Ref basic(Builder& b, const std::string& path, const Ref& x, const Block& block) {
  b.container(path, "ResNetBasicLayer");
  return convolutions(
      b, path + ".layer", x,
      {{block.inputs, block.outputs, block.stride}, {block.outputs, block.outputs, 1}}, {3, 3});
}

Ref resnet_layer(Builder& b, const std::string& path, const Ref& x, const Block& block) {
  const std::string type = b.config().text("layer_type", "bottleneck");
  if (type != "bottleneck" && type != "basic")
    b.config().refuse("layer_type", "bottleneck and basic");
  const bool early = b.config().truth("downsample_in_bottleneck", false);
  const Ref inner =
      type == "basic" ? basic(b, path, x, block) : bottleneck(b, path, x, block, early);
  Ref shortcut = x;
  if (block.inputs != block.outputs || block.stride != 1) {
    b.container(path + ".shortcut", "ResNetShortCut");
    shortcut = normed_convolution(b, path + ".shortcut", x, block, 1);
  } else {
    identity(b, path + ".shortcut");
  }
  return b.activation(path + ".activation", "hidden_act", "relu", b.add(inner, shortcut));
}

Ref resnet_stem(Builder& b, const std::string& path, const Ref& images) {
  const Config& config = b.config();
  b.container(path, "ResNetEmbeddings");
  b.container(path + ".embedder", "ResNetConvLayer");
  const Block block{config.size("num_channels", 3), config.size("embedding_size"), 2};
  const Ref x = normed_convolution(b, path + ".embedder", images, block, 7);
  const Ref active = b.activation(path + ".embedder.activation", "hidden_act", "relu", x);
  const auto sides = [](int side) { return Ref::list({Ref(side), Ref(side)}); };
  return b.layer(path + ".pooler", "pooling.MaxPool2d", "aten::max_pool2d", active,
                 {{"kernel_size", sides(3)},
                  {"stride", sides(2)},
                  {"padding", sides(1)},
                  {"dilation", sides(1)},
                  {"ceil_mode", false}});
}

/// The last maps of channels, and their means.
std::vector<Ref> resnet_encoder(Builder& b, const std::string& prefix, const Ref& images) {
  const Config& config = b.config();
  const std::vector<std::int64_t> widths = config.sizes("hidden_sizes"),
                                  depths = config.sizes("depths");
  if (widths.size() != depths.size()) config.wrong("depths", "is not as long as 'hidden_sizes'");
  Ref x = resnet_stem(b, prefix + "embedder", images);
  std::int64_t channels = config.size("embedding_size");
  b.container(prefix + "encoder", "ResNetEncoder");
  b.list(prefix + "encoder.stages");
  for (std::size_t stage = 0; stage < widths.size(); ++stage) {
    const std::string path = prefix + "encoder.stages." + std::to_string(stage);
    b.container(path, "ResNetStage");
    b.foreign(path + ".layers", "torch.nn.modules.container.Sequential");
    const bool halves = stage > 0 || config.truth("downsample_in_first_stage", false);
    for (std::int64_t i = 0; i < depths[stage]; ++i) {
      const Block block{channels, widths[stage], i == 0 && halves ? 2 : 1};
      x = resnet_layer(b, path + ".layers." + std::to_string(i), x, block);
      channels = widths[stage];
    }
  }
  const Ref means =
      b.layer(prefix + "pooler", "pooling.AdaptiveAvgPool2d", "aten::adaptive_avg_pool2d", x,
              {{"output_size", Ref::list({Ref(1), Ref(1)})}});
  return {x, means};
}

std::vector<Ref> resnet_model(Builder& b, const std::vector<Ref>& inputs) {
  return resnet_encoder(b, "", inputs[0]);
}

std::vector<Ref> resnet_classifier(Builder& b, const std::vector<Ref>& inputs) {
  b.container("resnet", "ResNetModel");
  const Ref means = resnet_encoder(b, "resnet.", inputs[0]).back();
  b.foreign("classifier", "torch.nn.modules.container.Sequential");
  const Ref flat = b.layer("classifier.0", "flatten.Flatten", "aten::flatten.using_ints", means,
                           {{"start_dim", 1}, {"end_dim", -1}});
  const std::int64_t width = b.config().sizes("hidden_sizes").back();
  return {b.linear("classifier.1", flat, width, b.config().labels())};
}

constexpr std::string_view resnet_classes = "transformers.models.resnet.modeling_resnet";

const Architecture resnet_rows[] = {
    {"ResNetModel",
     "resnet",
     resnet_classes,
     Takes::images,
     {.base = "resnet.", .has_head = false},
     resnet_model},
    {"ResNetForImageClassification",
     "resnet",
     resnet_classes,
     Takes::images,
     {.base = "resnet."},
     resnet_classifier},
};

}  // namespace

std::span<const Architecture> resnet_family() { return resnet_rows; }

}  // namespace mase::huggingface
