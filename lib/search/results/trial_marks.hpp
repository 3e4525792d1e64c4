// SPDX-License-Identifier: Apache-2.0
// What charts show of a trial.
#pragma once

#include <string>

#include "search/storage/storage.hpp"

namespace mase::search {

/// What is shown where the pointer rests on a trial: "trial 3: 0.75", and whose results it has.
std::string trial_title(const storage::Record& record, const std::string& values);
/// A parameter's name, short.
std::string dimension_label(const std::string& name);
/// Whether an earlier trial with the same parameters gave the results.
bool repeats_earlier(const storage::Record& record);
/// Where a choice stands between the least (0) and the greatest (1): by value for numbers, else by
/// place.
double shade_of(const samplers::Distribution& distribution, double internal);

}  // namespace mase::search
