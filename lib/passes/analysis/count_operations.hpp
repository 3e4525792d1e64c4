// SPDX-License-Identifier: Apache-2.0
// Parameters, multiply-accumulates, floating-point operations and bit operations of a graph.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Counts for one sample: an operation on a tensor with a dimension that follows the batch (the
/// first dimension of the first input) is divided by it, any other counts whole.
///
/// - parameters: elements of the parameters that a node uses; in the total each counts once.
/// - MACs: linear: outputs * inputs; convolution: output elements * (input channels / groups *
///   kernel elements), transposed: input elements * (output channels / groups * kernel elements);
///   matrix products: output elements * length of the sum; einsum: sizes of all its letters, for
///   operand after operand; attention: both of its products;
///   recurrent layers and attention layers of one operator: every matrix for every row, and the
///   products of attention.
/// - FLOPs: 2 per MAC, biases included (Sze, Chen, Yang, Emer: "Efficient Processing of Deep Neural
///   Networks", 2020); elementwise ops and activations 1 per output element; batch norm 2 (scale
///   and shift, its statistics are constants); other norms 5 per element (mean, difference, square,
///   sum, quotient; rms norm the last 3) and softmax 3 (exponential, sum, quotient); pooling 1 per
///   window element; bilinear upsampling 7 per output (4 products, 3 sums); reductions 1 per input
///   element; ops that only move elements 0; recurrent layers and attention layers of one operator:
///   their MACs alone.
/// - BitOPs: MACs * bits of the weight * bits of the input (van Baalen et al.: "Bayesian Bits",
///   NeurIPS 2020; Wang et al.: "HAQ", CVPR 2019): the format's bits per element, 32 for float32;
///   both products of attention count with the bits of query and key.
///
/// Info: "parameters", "macs", "flops", "bitops", "batch" and "nodes", a list of {"name", "op",
/// "parameters", "macs", "flops", "bitops"} in graph order. Ops without a rule count 0 and are
/// named in a note.
struct CountOperations {
  static constexpr PassDoc doc{"count_operations", PassKind::analysis,
                               "Count parameters, MACs, FLOPs and BitOPs of one sample."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
