// SPDX-License-Identifier: Apache-2.0
// Runners in general, and those that are a pass.
#include "search/runners/runner.hpp"

#include "base/error.hpp"

namespace mase::search {

std::string_view kind_table(RunnerKind kind) {
  return kind == RunnerKind::software ? "sw_runner" : "hw_runner";
}

PassRunner::PassRunner(const Bench& bench, passes::PassCall call)
    : bench_(bench), call_(std::move(call)) {}

Tree PassRunner::info(ir::Graph& graph) const {
  const passes::PassRow* row = passes::find_pass(*bench_.passes, call_.name);
  MASE_CHECK(row, "no pass " + call_.name);
  passes::PassContext context = bench_.context;
  return row->run(graph, call_.options, context).info;
}

}  // namespace mase::search
