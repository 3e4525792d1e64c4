// SPDX-License-Identifier: Apache-2.0
// Floating-point operations and memory traffic of every layer.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// For one sample and every node that computes: parameters, MACs, FLOPs of the forward and of the
/// backward pass, elements of activations read and written. Forward counts are those of
/// count_operations. The backward pass has twice the forward FLOPs for nodes with MACs (the
/// gradients of both operands are products of the same size), and as many for other nodes.
///
/// Info: "total_parameters", "macs", "computations", "backward_computations", "batch" and "nodes",
/// a list of {"name", "op", "total_parameters", "macs", "computations", "backward_computations",
/// "input_buffer_size", "output_buffer_size"} in graph order; flops.csv has the
/// same numbers. Ops without a rule are named in a note.
struct Flops {
  static constexpr PassDoc doc{"flops", PassKind::analysis,
                               "FLOPs, MACs and buffer sizes of every layer."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
