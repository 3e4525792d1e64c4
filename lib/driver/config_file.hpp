// SPDX-License-Identifier: Apache-2.0
// Reads configuration files: settings, the pass pipeline and the search table, checked as a whole.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "driver/custom_ops.hpp"
#include "driver/settings.hpp"
#include "passes/runner.hpp"
#include "search/options.hpp"

namespace mase::driver {

/// Reads the passes of a file in order, from `[passes.NAME]` tables or from `[[pass]]` tables with
/// `run = "NAME"`.
/// `own` are the ops that the file defines in [custom_ops.NAME].
std::vector<passes::PassCall> read_pipeline(const Tree& file, const ir::CustomOps& own,
                                            Diagnostics& diagnostics);

/// Reads the arguments of `forward` that are fixed to a constant (`[cf_args]`).
std::map<std::string, Tree> read_concrete_arguments(const Tree& file);

/// Reads the tables [outputs.NAME].
void read_outputs(const Tree& tables, std::map<std::string, data::OutputOptions>& outputs,
                  Diagnostics& diagnostics);

/// The contents of a configuration file, checked and merged with the command line.
struct Configuration {
  SettingSources sources;
  Settings settings;
  std::vector<passes::PassCall> pipeline;
  /// The rows on which transform measures its result ([transform.evaluate]).
  std::optional<search::BasicEvaluation> evaluation;
  std::map<std::string, Tree> concrete;
  std::vector<std::string> texts;  ///< the example input, as --text gives it
  ir::CustomOps custom_ops;
  search::OwnMetrics metrics;
};
/// Reads the file at `path` (no file if empty) and the values of the command line. Throws a
/// DiagnosticsError that reports all problems of both, each with its place.
Configuration load_configuration(const std::string& path, const Tree& command_line);
/// The same for a file that has already been parsed; `path` is its name.
Configuration read_configuration(Tree file, const std::string& path, const Tree& command_line);

/// The part that identifies the model, its import and what measures it: settings, `[cf_args]`,
/// `[custom_ops]` and `[metrics]`.
Tree model_tree(const Configuration& configuration);

/// Writes the resolved configuration as TOML. Loading it gives the same run.
std::string resolved_toml(const Configuration& configuration);

}  // namespace mase::driver
