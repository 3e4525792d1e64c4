// SPDX-License-Identifier: Apache-2.0
// Average storage bits of weights, biases and activations.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Bits per element averaged over elements: sum(bits(t) * numel(t)) / sum(numel(t)) over the
/// tensors t of one sample on the weight, bias and data_in ports of quantizable nodes. A quantized
/// port counts the bits of its format (the width of `integer`), any other port the bits of its
/// dtype. The input of an op without formats that only clamps, chooses or moves values (relu)
/// counts the format of the op that reads its result, where hardware rounds it. A value that
/// depends on the inputs is an activation at any port, so both operands of a product can be. Info:
/// "weight_bits", "bias_bits", "activation_bits", "parameter_bits" (weights and biases).
///
/// Over the whole graph and one sample: "average_bitwidth" averages over every parameter once (of
/// layers without a quantized form too), "average_bitwidth_with_activations" over these and the
/// activations above, and "memory_density" = compare_to / average_bitwidth. Without `shared_bits`
/// these three leave out exponents and scales that elements share. "float" has the share of
/// parameters and MACs without a format; a note reports it when it is above 0.
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
