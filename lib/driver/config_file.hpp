// SPDX-License-Identifier: Apache-2.0
// Configuration files: settings, the pass pipeline and the search table, checked as a whole.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "driver/custom_ops.hpp"
#include "driver/settings.hpp"
#include "passes/runner.hpp"
#include "search/options.hpp"

namespace mase::driver {

/// The passes of a file in order, from `[passes.NAME]` tables or from `[[pass]]` with `run =
/// "NAME"`.
/// `own`: ops that the file describes ([custom_ops.NAME]).
std::vector<passes::PassCall> read_pipeline(const Tree& file, const ir::CustomOps& own,
                                            Diagnostics& diagnostics);

/// Forward arguments that are fixed to a constant (`[cf_args]`).
std::map<std::string, Tree> read_concrete_arguments(const Tree& file);

/// Everything a file can say: reads, checks and merges; throws with all problems at once.
struct Configuration {
  SettingSources sources;
  Settings settings;
  std::vector<passes::PassCall> pipeline;
  /// Rows on which transform measures its result: [transform.evaluate].
  std::optional<search::BasicEvaluation> evaluation;
  std::map<std::string, Tree> concrete;
  ir::CustomOps custom_ops;
};
/// DiagnosticsError with every problem of the file at `path` (none when empty) and of the values
/// given on the command line, each at its place.
Configuration load_configuration(const std::string& path, const Tree& command_line);
/// The same of a file that is read already; `path` is its name.
Configuration read_configuration(Tree file, const std::string& path, const Tree& command_line);

/// What says which model it is and how it is read: the settings, `[cf_args]` and `[custom_ops]`.
Tree model_tree(const Configuration& configuration);

/// The resolved configuration as TOML; loading it again gives the same run.
std::string resolved_toml(const Configuration& configuration);

}  // namespace mase::driver
