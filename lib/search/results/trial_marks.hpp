// SPDX-License-Identifier: Apache-2.0
// Texts and shades by which charts show a trial.
#pragma once

#include <string>

#include "search/storage/storage.hpp"

namespace mase::search {

/// The tooltip of a trial: "trial 3: 0.75", and the trial whose results it repeats.
std::string trial_title(const storage::Record& record, const std::string& values);
/// A short form of a parameter's name.
std::string dimension_label(const std::string& name);
/// Whether the results come from an earlier trial with the same parameters.
bool repeats_earlier(const storage::Record& record);
/// The place of a choice between the smallest (0) and the largest (1): by value for numbers,
/// otherwise by position in the list.
double shade_of(const samplers::Distribution& distribution, double internal);

}  // namespace mase::search
