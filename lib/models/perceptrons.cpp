// SPDX-License-Identifier: Apache-2.0
// Networks of linear layers: jet taggers, toys and LFC.
#include "models/perceptrons.hpp"

#include "models/builder.hpp"

namespace mase::models {
namespace {

/// Layers of one container, numbered by position: "seq_blocks.0", "seq_blocks.1", ...
class Chain {
 public:
  Chain(Builder& builder, const std::string& path, const std::string& short_class)
      : builder_(builder), path_(path) {
    builder.container(path, short_class);
  }
  Chain& linear(std::int64_t outputs) {
    builder_.linear(next(), outputs);
    return *this;
  }
  Chain& batch_norm() {
    builder_.batch_norm(next());
    return *this;
  }
  Chain& relu() {
    builder_.relu(next());
    return *this;
  }
  Chain& softmax() {
    builder_.softmax(next());
    return *this;
  }

 private:
  std::string next() { return path_ + "." + std::to_string(count_++); }

  Builder& builder_;
  std::string path_;
  int count_ = 0;
};

}  // namespace

ir::Graph build_jsc_toy(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("jsc-toy", "JscToy", sample_shape, seed);
  Chain chain(builder, "seq_blocks", "Sequential");
  chain.batch_norm().relu().linear(8).batch_norm().relu().linear(8).batch_norm().relu();
  chain.linear(classes).batch_norm().relu();
  return builder.finish();
}

ir::Graph build_jsc_tiny(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("jsc-tiny", "JscTiny", sample_shape, seed);
  Chain(builder, "seq_blocks", "Sequential").batch_norm().relu().linear(classes).relu();
  return builder.finish();
}

ir::Graph build_jsc_s(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("jsc-s", "JscS", sample_shape, seed);
  Chain chain(builder, "module_list", "ModuleList");
  chain.batch_norm().relu().linear(64).batch_norm().relu();
  chain.linear(32).relu().linear(32).relu().linear(32).relu();
  chain.linear(classes).batch_norm().relu();
  return builder.finish();
}

ir::Graph build_jsc_three_linear(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("jsc-three-linear", "JscThreeLinear", sample_shape, seed);
  Chain chain(builder, "seq_blocks", "Sequential");
  chain.batch_norm().relu().linear(16).relu().linear(16).relu().linear(classes).relu();
  return builder.finish();
}

ir::Graph build_jsc_mlp(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("jsc-mlp", "JscMlp", sample_shape, seed);
  Chain chain(builder, "module_list", "ModuleList");
  for (std::int64_t width : {64, 32, 32, classes}) chain.linear(width).batch_norm().relu();
  return builder.finish();
}

ir::Graph build_toy(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("toy", "Toy", sample_shape, seed);
  builder.call_flatten();
  Chain(builder, "seq_blocks", "Sequential").linear(8).relu().linear(8).relu().linear(classes);
  return builder.finish();
}

ir::Graph build_toy_tiny(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("toy-tiny", "ToyTiny", sample_shape, seed);
  builder.call_flatten();
  Chain(builder, "seq_blocks", "Sequential").linear(classes).relu();
  return builder.finish();
}

ir::Graph build_lfc(const Shape& sample_shape, int classes, std::uint64_t seed) {
  Builder builder("lfc", "Lfc", sample_shape, seed);
  builder.call_flatten();
  Chain chain(builder, "layers", "Sequential");
  for (int i = 0; i < 4; ++i) chain.linear(256).batch_norm();
  chain.linear(classes).batch_norm().softmax();
  return builder.finish();
}

}  // namespace mase::models
