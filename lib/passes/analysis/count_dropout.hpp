// SPDX-License-Identifier: Apache-2.0
// Counts dropout layers: the worked example of an analysis pass.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Changes nothing; info: {"count": n, "nodes": [names]}.
struct CountDropout {
  static constexpr PassDoc doc{"count_dropout", PassKind::analysis,
                               "Count the dropout layers and functions of the graph."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
