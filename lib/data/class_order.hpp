// SPDX-License-Identifier: Apache-2.0
// The order of classes, which says what output of a model is which class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mase::data {

/// For each of `classes` its place in `order`, where it is spelt the same, or differs in upper and
/// lower case alone. nullopt if one is not there or several match.
std::optional<std::vector<std::int64_t>> places_of(const std::vector<std::string>& classes,
                                                   const std::vector<std::string>& order);

/// Numbers the classes of each target for classification by their places in `order`, which becomes
/// the list of its classes, and changes the hash if a number changes. Error(Fault::config) names
/// classes that are not in `order`, and names that are in it twice.
void order_classes(Dataset& dataset, const std::vector<std::string>& order);

}  // namespace mase::data
