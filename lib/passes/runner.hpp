// SPDX-License-Identifier: Apache-2.0
// The runner: one function around every pass, so that a pass consists of its own work only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/pass.hpp"

namespace mase::passes {

/// A pass that a configuration asks for, with its options and their place.
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
  std::optional<double> check_numerics;  ///< extra absolute tolerance; nullopt: no check
};

/// The outcome of one call.
struct PassReport {
  std::string name;
  Result result;
  double seconds = 0;
  std::optional<double> max_difference;  ///< with check_numerics
};

/// Reports unknown passes and wrong options of all calls before anything runs; `own` holds the
/// user's custom ops.
void check_calls(const std::vector<PassCall>& calls, const PassTable& table,
                 Diagnostics& diagnostics, const ir::CustomOps& own = {});

/// Runs the calls in order on a copy, and stores the copy in `graph` when all have succeeded; an
/// error leaves `graph` unchanged. Errors name pass and node. Calls `done` after each pass,
/// which may take parts of the report.
std::vector<PassReport> run_passes(ir::Graph& graph, const std::vector<PassCall>& calls,
                                   const PassTable& table, PassContext& context,
                                   const RunOptions& options,
                                   const std::function<void(PassReport&)>& done = {});

}  // namespace mase::passes
