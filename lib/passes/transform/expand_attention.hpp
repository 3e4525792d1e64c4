// SPDX-License-Identifier: Apache-2.0
// Takes attention that one operator computes apart into layers and products that have ports.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// In eval mode torch.nn.MultiheadAttention and TransformerEncoderLayer run one operator each; its
/// weights have no ports, so `quantize` would leave them in float. This pass writes what the
/// operators compute (Vaswani et al. 2017) with `linear`, `matmul`, `softmax`, `layer_norm`:
///
///     q, k, v = chunk(linear(x, in_proj), 3), heads apart     [batch, heads, length, E / heads]
///     context = softmax(q k^T / sqrt(E / heads) + mask) v
///     y       = linear(heads together(context), out_proj)
///
/// and, with `products`, scaled_dot_product_attention (its middle line) wherever it is called.
/// Parameters keep their names in the state_dict; new nodes are called after the layer
/// (`self_attn_in_proj`, `self_attn_scores`, ...). Other lengths and batches keep working. Results
/// move by rounding only, but for rows of which every key is masked: they become NaN.
///
/// Error(Fault::unsupported) naming the node: attention with dropout or between several tensors in
/// one operator, and shapes that are not known. Nodes with formats are left as they are.
/// Idempotent.
struct ExpandAttention {
  static constexpr PassDoc doc{"expand_attention", PassKind::transform,
                               "Take fused attention apart into layers that can be quantized.",
                               1e-4};
  struct Options {
    bool products = true;
    static constexpr auto fields() {
      return std::tuple{Field{"products", &Options::products,
                              "take scaled_dot_product_attention apart too, not layers alone"}};
    }
  };
  /// Whether the node computes a layer of attention, or its product, in one operator.
  static bool applies(const ir::Node& node);
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
