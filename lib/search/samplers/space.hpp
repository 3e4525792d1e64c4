// SPDX-License-Identifier: Apache-2.0
// Space: the parameters of a search, some of which exist only under a choice of another.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/samplers/distribution.hpp"
#include "search/samplers/name_map.hpp"

namespace mase::samplers {

/// Active only where the parameter `parent` is active and has one of these internal values.
struct Condition {
  std::string parent;
  std::set<double> values;
  bool operator==(const Condition&) const = default;
};

/// One parameter of a space, and when it exists.
struct Dimension {
  std::string name;  ///< unique within the space
  Distribution distribution;
  std::optional<Condition> condition;
  bool operator==(const Dimension&) const = default;
};

/// Parents stand before their children.
using Space = std::vector<Dimension>;

/// Internal values by name; a trial holds the active dimensions only.
using Params = NameMap<double>;

bool is_active(const Dimension& dimension, const Params& params);

/// The first value of every dimension that is active under those before it.
Params first_configuration(const Space& space);
/// Number of different trials; nothing when a dimension is a float without step, or above 2^62.
std::optional<std::int64_t> configurations(const Space& space);
/// The index-th configuration (first dimension slowest), 0 <= index < configurations(space).
Params configuration_at(const Space& space, std::int64_t index);

/// Dimensions that are always active together: indices with equal chains of conditions, parents'
/// groups first.
std::vector<std::vector<std::size_t>> groups(const Space& space);

}  // namespace mase::samplers
