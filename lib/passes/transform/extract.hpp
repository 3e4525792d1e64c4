// SPDX-License-Identifier: Apache-2.0
// Cuts a part out of a graph, to verify one block or to leave out nodes that have no hardware.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Keeps the part between `inputs` and `outputs`. The named inputs become placeholders with their
/// names, the named outputs become the result (a tuple when there are several), and every node that
/// does not contribute is removed, unused placeholders too. Inputs keep the order of the graph;
/// without `inputs` the placeholders stay the inputs. The remaining nodes compute the same values
/// from the same inputs.
struct Extract {
  static constexpr PassDoc doc{"extract", PassKind::transform,
                               "Keep only the part of the graph between named nodes.",
                               std::numeric_limits<double>::infinity()};
  struct Options {
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    static constexpr auto fields() {
      return std::tuple{Field{"inputs", &Options::inputs,
                              "nodes whose results become inputs; empty: the inputs stay"},
                        Field{"outputs", &Options::outputs,
                              "nodes whose results become outputs; empty: the outputs stay"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
