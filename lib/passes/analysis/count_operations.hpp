// SPDX-License-Identifier: Apache-2.0
// Parameters, multiply-accumulates, floating-point operations and bit operations of a graph.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Counts are for one sample: where a tensor has a dimension that follows the batch (the first
/// dimension of the first input), the operations on it are divided by the batch.
///
/// - parameters: elements of the parameters that a node uses; in the total each counts once.
/// - MACs: linear: outputs * inputs; convolution: output elements * (input channels / groups *
///   kernel elements), transposed: input elements * (output channels / groups * kernel elements);
///   matrix products: output elements * length of the sum; einsum: the product of the sizes of all
///   letters, for each operand that is joined; attention: both of its products;
///   recurrent layers and attention layers of one operator: every matrix for every row, and the
///   products of attention.
/// - FLOPs: 2 per MAC, biases included (Sze, Chen, Yang, Emer: "Efficient Processing of Deep Neural
///   Networks", 2020); elementwise ops and activations 1 per output element; batch norm 2 (scale
///   and shift: its statistics are constants); other norms 5 per element (mean, difference, square,
///   sum, quotient; rms norm the last 3) and softmax 3 (exponential, sum, quotient); pooling 1 per
///   window element; bilinear upsampling 7 per output (4 products, 3 sums); reductions 1 per input
///   element; ops that only move elements 0; recurrent layers and attention layers of one operator
///   count their MACs only.
/// - BitOPs: MACs * bits of the weight * bits of the input (van Baalen et al.: "Bayesian Bits",
///   NeurIPS 2020; Wang et al.: "HAQ", CVPR 2019): the format's bits per element, 32 for float32;
///   both products of attention count with the bits of query and key.
///
/// Info: "parameters", "macs", "flops", "bitops", "batch" and "nodes", a list of {"name", "op",
/// "parameters", "macs", "flops", "bitops"} in graph order. Ops without a rule count 0; a note
/// names them.
struct CountOperations {
  static constexpr PassDoc doc{"count_operations", PassKind::analysis,
                               "Count parameters, MACs, FLOPs and BitOPs of one sample."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
