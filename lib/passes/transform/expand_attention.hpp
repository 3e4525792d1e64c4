// SPDX-License-Identifier: Apache-2.0
// Takes attention that a single operator computes apart into layers and products with ports.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// In eval mode torch.nn.MultiheadAttention and TransformerEncoderLayer each run one operator whose
/// weights have no ports, so `quantize` would leave them in float. This pass replaces it by layers
/// and functions (linear, matmul, softmax, layer_norm) that compute the same (Vaswani et al. 2017):
///
///     q, k, v = chunk(linear(x, in_proj), 3), heads apart     [batch, heads, length, E / heads]
///     context = softmax(q k^T / sqrt(E / heads) + mask) v
///     y       = linear(heads together(context), out_proj)
///
/// With `products` it also replaces every call of scaled_dot_product_attention (the middle line).
/// Parameters keep their names in the state_dict; new nodes are named after the layer
/// (`self_attn_in_proj`, `self_attn_scores`, ...). Other lengths and batches keep working. Results
/// change by rounding only, except that rows whose keys are all masked become NaN.
///
/// Error(Fault::unsupported) names a node with unknown shapes, with dropout in its attention, or
/// with attention between several tensors in one operator. Nodes with formats do not change.
/// Idempotent.
struct ExpandAttention {
  static constexpr PassDoc doc{"expand_attention", PassKind::transform,
                               "Take fused attention apart into layers that can be quantized.",
                               1e-4};
  struct Options {
    bool products = true;
    static constexpr auto fields() {
      return std::tuple{Field{"products", &Options::products,
                              "take calls of scaled_dot_product_attention apart, too"}};
    }
  };
  /// True when the node computes an attention layer, or the product of one, in a single operator.
  static bool applies(const ir::Node& node);
  static bool prepares(const ir::Graph&) { return true; }
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
