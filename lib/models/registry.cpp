// SPDX-License-Identifier: Apache-2.0
// The table of reference networks.
#include "models/registry.hpp"

#include "base/text.hpp"
#include "models/bert.hpp"
#include "models/convnets.hpp"
#include "models/decoders.hpp"
#include "models/perceptrons.hpp"
#include "models/transformers.hpp"

namespace mase::models {

const std::vector<ModelRow>& model_table() {
  static const std::vector<ModelRow> table{
      {"jsc-toy", "BN, ReLU, 3 x (linear, BN, ReLU): 16-8-8-5", {16}, 5, "jsc", build_jsc_toy},
      {"jsc-tiny", "BN, ReLU, linear 16-5, ReLU", {16}, 5, "jsc", build_jsc_tiny},
      {"jsc-s",
       "BN, ReLU, linear 16-64-32-32-32-5, BN after the first and the last, ReLU after each",
       {16},
       5,
       "jsc",
       build_jsc_s},
      {"jsc-three-linear",
       "BN, ReLU, 3 x (linear, ReLU): 16-16-16-5",
       {16},
       5,
       "jsc",
       build_jsc_three_linear},
      {"jsc-mlp", "4 x (linear, BN, ReLU): 16-64-32-32-5", {16}, 5, "jsc", build_jsc_mlp},
      {"toy",
       "flatten, linear in-8-8-classes with ReLU between",
       {1, 28, 28},
       10,
       "mnist",
       build_toy},
      {"toy-tiny", "flatten, linear in-classes, ReLU", {1, 2, 2}, 2, "toy-tiny", build_toy_tiny},
      {"lenet",
       "2 x (5x5 convolution, BN, ReLU, pool): 8 and 16 channels, linear 256-64-10",
       {1, 28, 28},
       10,
       "mnist",
       build_lenet},
      {"vgg7",
       "6 x (3x3 convolution, BN, ReLU): 128-128-256-256-512-512, 3 pools, linear 1024-1024",
       {3, 32, 32},
       10,
       "npy",
       build_vgg7},
      {"cnv",
       "6 x (3x3 convolution without padding, BN, ReLU): 64-64-128-128-256-256, 2 pools, "
       "linear 512-512 with BN and ReLU",
       {3, 32, 32},
       10,
       "npy",
       build_cnv},
      {"lfc",
       "flatten, 4 x (linear 256, BN), linear, BN, softmax",
       {1, 28, 28},
       10,
       "mnist",
       build_lfc},
      {"vit-tiny",
       "7x7 patches, positions, 3 x (norm, attention of 4 heads, norm, linear 64-128-64 with "
       "GELU), "
       "norm, mean, linear 64-10",
       {1, 28, 28},
       10,
       "mnist",
       build_vit_tiny},
      {"deit-tiny",
       "16x16 patches, class token, positions, 12 x (norm, attention of 3 heads, norm, linear "
       "192-768-192 with GELU), norm, linear 192-1000",
       {3, 224, 224},
       1000,
       "npy",
       build_deit_tiny},
      {"transformer-jets",
       "a token per feature or particle, positions, 2 x (norm, attention of 2 heads, norm, linear "
       "32-64-32 with GELU), norm, mean, linear 32-5",
       {16},
       5,
       "jsc",
       build_transformer_jets},
      {"bert-tiny",
       "embeddings of 256 tokens and positions, norm, 2 x (attention of 2 heads, norm, linear "
       "128-512-128 with GELU, norm), first token, linear 128-128, tanh, linear 128-2",
       {32},
       2,
       "toy-tokens",
       build_bert_tiny},
      {"llama-tiny",
       "embedding, 2 x (RMS norm, causal attention of 4 heads over 2 of keys and values, RMS norm, "
       "gated perceptron 64-192-64), RMS norm, linear 64-256",
       {64},
       256,
       "text",
       build_llama_tiny},
  };
  return table;
}

const ModelRow* find_model(const std::string& name) {
  const std::string wanted = replace_all(name, "_", "-");
  for (const ModelRow& row : model_table())
    if (row.name == wanted) return &row;
  return nullptr;
}

}  // namespace mase::models
