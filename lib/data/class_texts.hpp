// SPDX-License-Identifier: Apache-2.0
// Classes that are given as texts, one for every row.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"

namespace mase::data {

/// The target y of these rows. Classes are in the order of their numbers if all are whole numbers,
/// otherwise of their spelling. `place` says where a row's class stands; Error(Fault::file) names
/// it when a class is missing, or there are so many that they cannot be classes.
Target target_of_texts(const std::vector<std::string_view>& texts,
                       const std::function<std::string(std::size_t row)>& place);

}  // namespace mase::data
