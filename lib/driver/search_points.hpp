// SPDX-License-Identifier: Apache-2.0
// Writes a folder that is ready to run for each of the best trials, and measures them again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/search_task.hpp"

namespace mase::driver {

/// A copy of the checkpoint of a trial, if one is kept anywhere.
using GetCheckpoint = std::function<std::optional<std::string>(const storage::Record& record)>;

/// Writes `best/trial_N` in `folder` for every point of the Pareto set: the checkpoint, and a
/// transform.toml that makes and measures it again. Existing ones are kept, those that `get` gives
/// are copied, and others are measured again. Returns the folders.
std::vector<std::string> write_points(const SearchTask& task, const Session& session,
                                      const search::StudyResult& result, const std::string& folder,
                                      const GetCheckpoint& get);

/// Measures the first `confirm` points on the test rows and prints a table, which it also adds to
/// the result, because the best of many trials on a few rows is partly luck. Does nothing if the
/// search itself used the test rows, or measures nothing on rows.
void confirm_points(const SearchTask& task, const Session& session, search::StudyResult& result,
                    const std::string& folder, Output& output);

/// Adds the formats of the leading trial's model to the result, if that trial has a folder.
void read_leading_bits(search::StudyResult& result, const std::string& folder);

}  // namespace mase::driver
