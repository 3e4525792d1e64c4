// SPDX-License-Identifier: Apache-2.0
// What train, test and transform do first: read the configuration, set log and threads, load data.
#pragma once

#include <optional>
#include <string>

#include "base/folder_lock.hpp"
#include "data/dataset.hpp"
#include "driver/commands.hpp"
#include "driver/config_file.hpp"
#include "driver/load_model.hpp"
#include "driver/output.hpp"

namespace mase::driver {

/// What commands on models and data sets have in common once their settings are read.
struct Session {
  Configuration configuration;
  Output output;
  std::optional<data::Dataset> dataset;

  const Settings& settings() const { return configuration.settings; }
  /// `<project_dir>/<project>/software`.
  std::string software_folder() const { return project_folder(settings()) + "/software"; }
  std::int64_t max_batches() const { return settings().general.to_debug ? 5 : -1; }
};

/// Where a command writes when no project is named: into one with a generated name, or into that
/// of the checkpoint, whose results it adds to.
enum class Project { generated, of_model };

/// Reads, checks and prints the settings; loads the data set when one is named. What the
/// configuration names may be read from then on (sandbox/policy.hpp), and a project that is there
/// changed.
Session open_session(const CommonRequest& request, Project project = Project::generated);

/// The project of a command that makes one may be written.
void work_in_project(const Settings& settings);

/// Keeps the project's folder for a command that writes its results there, against others that do;
/// Error(Fault::file) where another has it. What commands that died have left there is swept. The
/// lock has a thread, so a sandbox is entered before.
FolderLock lock_project(const Session& session, const std::string& command);

/// The model of a session, with example inputs from `input` or the data set.
/// Inputs of the data set are in the order of the model's from then on.
LoadedModel load_session_model(Session& session, const ModelInput& input);

/// Fails with a config error that says how to name a data set.
const data::Dataset& require_dataset(const Session& session);

/// Maps "float", "quantized", "integer" or "rtl".
ir::Level parse_level(const std::string& name);

}  // namespace mase::driver
