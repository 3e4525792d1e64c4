// SPDX-License-Identifier: Apache-2.0
// Bit operations of every layer: its multiply-accumulates, weighted by the bits of its formats.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// BitOPs = MACs * weight bits * activation bits of one sample, by the rules of count_operations,
/// for every node with MACs. Bits are the average per element, including shared exponents and
/// scales; float32 has 32. In a product of two activations the second operand counts as weight.
///
/// Info: "macs", "bitops", "float_bitops" (all operands in 32 bits), "batch" and "nodes", a list of
/// {"name", "op", "macs", "weight_bits", "activation_bits", "bitops"} in graph order; bitops.csv
/// has the same numbers. Ops without a rule are named in a note.
struct Bitops {
  static constexpr PassDoc doc{"bitops", PassKind::analysis,
                               "MACs x weight bits x activation bits of every layer."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
