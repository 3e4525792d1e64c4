// Average storage bits of weights, biases and activations.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Bits per element averaged over elements: sum(bits(t) * numel(t)) / sum(numel(t)) over the
/// tensors t on the weight, bias and data_in ports of quantizable nodes. A quantized port counts
/// the bits of its format (for `integer` its width), any other port the bits of its dtype.
struct AverageBits {
  static constexpr PassDoc doc{"average_bits", PassKind::analysis,
                               "Average bits of weights, biases and activations."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
