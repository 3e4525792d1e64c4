// SPDX-License-Identifier: Apache-2.0
// Folds batch norms into neighbouring layers, which hardware needs before quantization.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// In eval mode a batch norm is y = s * x + t per channel, s = weight / sqrt(running_var + eps),
/// t = bias - s * running_mean (Ioffe & Szegedy 2015). Each is folded into
///  1. the linear or convolution layer before it, when that layer feeds nothing else;
///  2. the linear layer (or convolution without padding) after it, when it feeds nothing else;
///  3. itself otherwise (`rest = "scale"`): weight s, bias t, mean 0, variance 1 and eps 0, in
///     training too, so that it computes s * x + t exactly and `quantize` gives s and t their
///     formats.
/// Products are formed in double and rounded once to float32, so results change by rounding only.
/// Layers and tensors that are used twice do not change. This pass must run before `quantize`: it
/// refuses graphs with formats on the nodes concerned.
struct FuseBatchNorm {
  static constexpr PassDoc doc{
      "fuse_batch_norm", PassKind::transform,
      "Fold batch norms into neighbouring layers, or into scale and shift.", 1e-3};
  struct Options {
    std::string rest = "scale";
    static constexpr auto fields() {
      return std::tuple{Field{"rest", &Options::rest,
                              "batch norms that fit into no layer become scale and shift, or stay"}
                            .one_of("scale", "keep")};
    }
  };
  static bool prepares(const ir::Graph&) { return true; }
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
