// SPDX-License-Identifier: Apache-2.0
// Space: the parameters of a search. Some exist only for certain choices of another parameter.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/samplers/distribution.hpp"
#include "search/samplers/name_map.hpp"

namespace mase::samplers {

/// The condition that the parameter `parent` is active and has one of these internal values.
struct Condition {
  std::string parent;
  std::set<double> values;
  bool operator==(const Condition&) const = default;
};

/// A parameter of a space, and the condition under which it exists.
struct Dimension {
  std::string name;  ///< unique within the space
  Distribution distribution;
  std::optional<Condition> condition;
  bool operator==(const Dimension&) const = default;
};

/// The dimensions of a space. Parents come before their children.
using Space = std::vector<Dimension>;

/// Internal values by name. A trial has only the active dimensions.
using Params = NameMap<double>;

bool is_active(const Dimension& dimension, const Params& params);

/// The configuration with the first value of every dimension that is active under earlier ones.
Params first_configuration(const Space& space);
/// The number of configurations; nothing if a dimension is a float without step, or above 2^62.
std::optional<std::int64_t> configurations(const Space& space);
/// The index-th configuration (first dimension slowest), 0 <= index < configurations(space).
Params configuration_at(const Space& space, std::int64_t index);

/// Groups of dimensions that are always active together: the indices with equal chains of
/// conditions. Parents' groups come first.
std::vector<std::vector<std::size_t>> groups(const Space& space);

}  // namespace mase::samplers
