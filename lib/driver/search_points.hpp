// SPDX-License-Identifier: Apache-2.0
// What a search leaves of its best trials: a folder each, ready to run, and a second look at them.
#pragma once

#include <string>
#include <vector>

#include "driver/search_task.hpp"

namespace mase::driver {

/// `best/trial_N` below `folder` for every point of the Pareto set: the checkpoint, and a
/// transform.toml that makes and measures it again. Returns the folders. What is there stays.
std::vector<std::string> write_points(const SearchTask& task, const Session& session,
                                      const search::StudyResult& result, const std::string& folder);

/// Measures the first `confirm` of these on the test rows and prints a table, which the result
/// keeps: the best of many trials on a few rows is partly luck. Does nothing where the search
/// itself looked at these rows, or measures nothing on rows.
void confirm_points(const SearchTask& task, const Session& session, search::StudyResult& result,
                    const std::string& folder, Output& output);

/// Keeps in the result what formats the leading trial's model has, where it has a folder.
void read_leading_bits(search::StudyResult& result, const std::string& folder);

}  // namespace mase::driver
