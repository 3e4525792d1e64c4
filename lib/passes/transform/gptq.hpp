// SPDX-License-Identifier: Apache-2.0
// Rounds quantized weights so that their layers' outputs on data change as little as possible.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Replaces the weight of every linear layer and convolution (1d, 2d) whose weight has a format by
/// values on the format's grid, chosen by error compensation (GPTQ, Frantar et al. 2022) on rows of
/// the training data. Layers are taken in the order of the graph, each with the inputs that the
/// quantized layers before it give. A layer whose error does not fall keeps rounding to nearest.
/// Formats, biases and everything else stay. A note names other ops that sum over a weight. Info:
/// by layer "nearest_db" and "compensated_db", the signal-to-noise ratio of the layer's products
/// before and after.
struct Gptq {
  static constexpr PassDoc doc{"gptq", PassKind::transform,
                               "Round weights with error compensation, layer by layer from data.",
                               std::numeric_limits<double>::infinity()};
  struct Options {
    std::int64_t num_samples = 1024;
    double damping = 0.01;
    static constexpr auto fields() {
      return std::tuple{
          Field{"num_samples", &Options::num_samples, "rows of the training data"}.at_least(1),
          Field{"damping", &Options::damping,
                "share of the inputs' mean energy that is added to each input's"}
              .between(1e-6, 1.0)};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
