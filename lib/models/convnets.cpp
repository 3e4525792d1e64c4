// SPDX-License-Identifier: Apache-2.0
// The convolutional networks.
#include "models/convnets.hpp"

#include "models/builder.hpp"

namespace mase::models {
namespace {

/// Convolution 3x3, batch norm and ReLU under consecutive numbers of the container `features`.
void conv_block(Builder& builder, int& index, std::int64_t channels, std::int64_t padding,
                bool bias, double momentum) {
  const auto path = [&] { return "feature_layers." + std::to_string(index++); };
  builder.conv2d(path(), channels, 3, padding, bias);
  builder.batch_norm(path(), momentum);
  builder.relu(path());
}

void pool(Builder& builder, int& index) {
  builder.max_pool2d("feature_layers." + std::to_string(index++), 2);
}

}  // namespace

ir::Graph build_lenet(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("lenet", "LeNet", sample_shape, seed);
  builder.conv2d("conv1", 8, 5, 0, true);
  builder.batch_norm("bn1");
  builder.call_relu();
  builder.max_pool2d("pool1", 2);
  builder.conv2d("conv2", 16, 5, 0, false);
  builder.batch_norm("bn2");
  builder.call_relu();
  builder.call_max_pool2d(2);
  builder.call_flatten();
  builder.linear("fc1", 64);
  builder.relu("relu3");
  builder.linear("fc2", classes);
  return builder.finish();
}

ir::Graph build_vgg7(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("vgg7", "Vgg7", sample_shape, seed);
  builder.container("feature_layers", "ModuleList");
  builder.container("classifier", "Sequential");
  int index = 0;
  for (std::int64_t channels : {128, 256, 512}) {
    for (int i = 0; i < 2; ++i) conv_block(builder, index, channels, 1, true, 0.9);
    pool(builder, index);
  }
  builder.call_view();
  builder.linear("classifier.0", 1024);
  builder.relu("classifier.1");
  builder.linear("classifier.2", 1024);
  builder.relu("classifier.3");
  builder.linear("last_layer", classes);
  return builder.finish();
}

ir::Graph build_cnv(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("cnv", "Cnv", sample_shape, seed);
  builder.container("feature_layers", "Sequential");
  builder.container("classifier", "Sequential");
  int index = 0;
  for (std::int64_t channels : {64, 128, 256}) {
    for (int i = 0; i < 2; ++i) conv_block(builder, index, channels, 0, false, 0.1);
    if (channels < 256) pool(builder, index);
  }
  builder.call_flatten();
  for (int i = 0; i < 2; ++i) {
    builder.linear("classifier." + std::to_string(3 * i), 512);
    builder.batch_norm("classifier." + std::to_string(3 * i + 1));
    builder.relu("classifier." + std::to_string(3 * i + 2));
  }
  builder.linear("classifier.6", classes);
  return builder.finish();
}

}  // namespace mase::models
