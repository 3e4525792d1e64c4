// SPDX-License-Identifier: Apache-2.0
// The runner: one function around every pass, so that passes hold nothing but their work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/pass.hpp"

namespace mase::passes {

/// A pass that a configuration asks for, with its options and where they stand.
struct PassCall {
  std::string name;
  Tree options = Tree::dict();
  SourceLocation where;
};

/// What the runner does around every pass.
struct RunOptions {
  bool verify_each = true;
  bool timing = false;
  std::vector<std::string> dump_after;  ///< pass names, or "all"
  std::string dump_folder;
  std::optional<double> check_numerics;  ///< extra absolute tolerance; none: off
};

/// What became of one call.
struct PassReport {
  std::string name;
  Result result;
  double seconds = 0;
  std::optional<double> max_difference;  ///< with check_numerics
};

/// Reports unknown passes and wrong options of every call before anything runs; `own` are the ops
/// that the user has described.
void check_calls(const std::vector<PassCall>& calls, const PassTable& table,
                 Diagnostics& diagnostics, const ir::CustomOps& own = {});

/// Runs the calls in order on a copy and stores it into `graph` when all succeeded; the caller's
/// graph is never half changed. Errors name pass and node. `done` is called after each pass.
std::vector<PassReport> run_passes(ir::Graph& graph, const std::vector<PassCall>& calls,
                                   const PassTable& table, PassContext& context,
                                   const RunOptions& options,
                                   const std::function<void(const PassReport&)>& done = {});

}  // namespace mase::passes
