// SPDX-License-Identifier: Apache-2.0
// Removes dropout layers: the worked example of a transform pass.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Erases every dropout module and function, and connects its users to its input. Nodes that draw
/// random numbers in eval mode (from a trace in train mode) stop drawing: dropout inside attention
/// and recurrent layers, rrelu. Results in eval mode stay equal bit for bit when the model did not
/// draw; training loses the regularisation. Idempotent.
struct RemoveDropout {
  static constexpr PassDoc doc{"remove_dropout", PassKind::transform,
                               "Erase dropout; results in eval mode stay the same."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  /// True when the graph draws in eval mode; other dropout is already the identity.
  static bool prepares(const ir::Graph& graph);
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
