// SPDX-License-Identifier: Apache-2.0
// Common code of runners, and the runners that are a pass.
#include "search/runners/runner.hpp"

#include "base/error.hpp"
#include "base/join_trees.hpp"

namespace mase::search {

std::string_view kind_table(RunnerKind kind) {
  return kind == RunnerKind::software ? "sw_runner" : "hw_runner";
}

PassRunner::PassRunner(const Bench& bench, passes::PassCall call)
    : bench_(bench), call_(std::move(call)) {}

std::optional<passes::PassCall> PassRunner::pass(const Tree& own) const {
  return passes::PassCall{call_.name, join_trees(call_.options, own), call_.where};
}

Tree PassRunner::info(ir::Graph& graph, const Tree& own) const {
  const passes::PassRow* row = passes::find_pass(*bench_.passes, call_.name);
  MASE_CHECK(row, "no pass " + call_.name);
  passes::PassContext context = bench_.context;
  return row->run(graph, join_trees(call_.options, own), context).info;
}

}  // namespace mase::search
