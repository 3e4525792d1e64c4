// SPDX-License-Identifier: Apache-2.0
// Removes dropout layers: the worked example of a transform pass.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Erases every dropout module and function and connects its users to its input, and has what draws
/// random numbers in eval mode (a trace in train mode) draw none: dropout inside of attention and
/// of recurrent layers, rrelu. Results in eval mode stay equal bit for bit, of a model in which
/// nothing draws; in training the regularisation is gone. Idempotent.
struct RemoveDropout {
  static constexpr PassDoc doc{"remove_dropout", PassKind::transform,
                               "Erase dropout; results in eval mode stay the same."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
