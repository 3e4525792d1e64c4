// SPDX-License-Identifier: Apache-2.0
// Average storage bits of weights, biases and activations.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Bits per element averaged over elements: sum(bits(t) * numel(t)) / sum(numel(t)) over the
/// tensors t, of one sample, on the weight, bias and data_in ports of quantizable nodes. A
/// quantized port counts the bits of its format (for `integer` its width), any other port the bits
/// of its dtype; what an op without formats reads that only clamps, chooses or moves (relu) counts
/// what reads its result, as hardware rounds there. What depends on the inputs is an activation at
/// any port, as both operands of a product are. Info: "weight_bits", "bias_bits",
/// "activation_bits", "parameter_bits" (weights and biases).
///
/// Over the whole graph, for one sample: "average_bitwidth" averages over every parameter once
/// (those of layers without quantized form too), "average_bitwidth_with_activations" over these and
/// the activations above, "memory_density" = compare_to / average_bitwidth. Without
/// `shared_bits` exponents and scales that elements share are left out of these three. "float" has
/// the share of parameters and MACs without a format, which a note says where there is one.
struct AverageBits {
  static constexpr PassDoc doc{"average_bits", PassKind::analysis,
                               "Average bits of weights, biases and activations."};
  struct Options {
    double compare_to = 32;
    bool shared_bits = true;
    static constexpr auto fields() {
      return std::tuple{
          Field{"compare_to", &Options::compare_to, "bits per element at memory density 1"}.between(
              1, 64),
          Field{"shared_bits", &Options::shared_bits, "count shared exponents and scales"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
