// SPDX-License-Identifier: Apache-2.0
// The first steps of a command: read the configuration, set log level and threads, load the data.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/companions.hpp"
#include "base/folder_lock.hpp"
#include "data/dataset.hpp"
#include "driver/commands/commands.hpp"
#include "driver/config_file.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/output.hpp"
#include "driver/stored_data.hpp"

namespace mase::driver {

/// The state that commands on models and data sets share after their settings are read.
struct Session {
  Configuration configuration;
  Output output;
  std::optional<data::Dataset> dataset;
  std::optional<StoredData> stored;                  ///< of the checkpoint that is loaded
  std::shared_ptr<Companions> companions = nullptr;  ///< processes that share the batches, if any

  const Settings& settings() const { return configuration.settings; }
  /// `<project_dir>/<project>/software`.
  std::string software_folder() const { return project_folder(settings()) + "/software"; }
  std::int64_t max_batches() const { return settings().general.to_debug ? 5 : -1; }
};

/// The project that a command writes to if none is named: one with a generated name, or that of
/// the checkpoint, to whose results it adds.
enum class Project { generated, of_model };

/// Reads, checks and prints the settings, and loads the data set if one is named. Settings of data
/// that are not given are those of the checkpoint that is loaded. From then on the
/// sandbox (sandbox/policy.hpp) allows reading the files that the configuration names, and changing
/// an existing project.
Session open_session(const CommonRequest& request, Project project = Project::generated,
                     DataSource source = DataSource::named);

/// The metadata of a checkpoint of this session. Without a data set, what it loads remembers its
/// data for it.
Tree checkpoint_info(const Session& session, const std::string& resolved_configuration);

/// Allows writing to the project's folder, for a command that creates it.
void work_in_project(const Settings& settings);

/// Locks the project's folder for a command that writes its results there. Error(Fault::file) if
/// another command holds the lock. Removes files left behind by commands that died. The lock has a
/// thread, so the sandbox must be entered before.
FolderLock lock_project(const Session& session, const std::string& command);

/// Loads the model of a session, with example inputs from `input` or the data set.
/// From then on the inputs of the data set are in the order of the model's inputs.
LoadedModel load_session_model(Session& session, const ModelInput& input);

/// The model that `teacher` names, or null. Error(Fault::config) if it takes other inputs than the
/// data set has.
std::shared_ptr<const ir::Graph> load_teacher(Session& session, const ModelInput& input);

/// Returns the data set, or throws a config error that says how to name one.
const data::Dataset& require_dataset(const Session& session);

/// The same, for a command or table `what` that needs labels: Error(Fault::config) for the task
/// `none`, with what can be done without labels: "the runner output_distance measures".
const data::Dataset& require_labels(const Session& session, const std::string& what,
                                    const std::string& other = "`mase test` measures");

/// Parses "float", "quantized", "integer" or "rtl".
ir::Level parse_level(const std::string& name);

}  // namespace mase::driver
