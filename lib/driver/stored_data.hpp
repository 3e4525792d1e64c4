// SPDX-License-Identifier: Apache-2.0
// What a checkpoint remembers of its data: the data set, and the settings that its rows were read
// with. Whoever loads the checkpoint reads rows in the same way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "data/dataset.hpp"
#include "driver/settings.hpp"

namespace mase::driver {

/// The data that the model of a checkpoint was made with.
struct StoredData {
  std::string path;  ///< of the checkpoint
  std::optional<std::string> dataset;
  data::DataOptions options;

  Tree tree() const;  ///< as checkpoints have it
};

/// What the metadata of the checkpoint at `path` say of its data; nothing if they say nothing.
std::optional<StoredData> data_in(const Tree& info, const std::string& path);

/// Whether a command takes the data set of the checkpoint if the user names none.
enum class DataSource { named, of_model };

/// What the checkpoint that the settings load remembers; nothing without a checkpoint, and for one
/// that was made without data.
std::optional<StoredData> stored_data(const Settings& settings);

/// Gives the settings of data that the user has not given the values of the checkpoint, and says
/// so. Warns of those that the user has given and that make other numbers of the same rows.
/// Error(Fault::file) if the rows of the checkpoint are needed and not there any more.
void follow_stored_data(const StoredData& stored, const SettingSources& sources, DataSource source,
                        Settings& settings);

/// Warns if the checkpoint `model` was made with other settings of data than these, which read the
/// rows that it gets.
void compare_stored_data(const std::string& model, Settings settings);

/// The data set that was given on the command line, with its options, for a command on these
/// models; nothing if none was given. The first checkpoint among them gives the settings that were
/// left out; a warning names checkpoints that rows do not fit.
std::optional<data::Dataset> given_dataset(const std::vector<std::string>& models,
                                           const Tree& command_line);

}  // namespace mase::driver
