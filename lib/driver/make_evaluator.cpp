// SPDX-License-Identifier: Apache-2.0
// The level says who runs a graph.
#include "driver/make_evaluator.hpp"

#include "backend/backend.hpp"
#include "hardware/integer/interpreter.hpp"

namespace mase::driver {

ir::MakeEvaluator make_evaluator() {
  return [](const ir::Graph& graph, ir::Level level) {
    return level == ir::Level::integer ? integer::make_evaluator(graph)
                                       : backend::open().evaluator(graph, level);
  };
}

}  // namespace mase::driver
