// SPDX-License-Identifier: Apache-2.0
// Searches several spaces together. The parameters of each space have its name as a prefix.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/spaces/search_space.hpp"

namespace mase::search {

/// A space, and its name among several.
struct SpacePart {
  std::string name;  ///< "channels"
  std::unique_ptr<SearchSpace> space;
};

/// Combines the parts to one space. A parameter is named PART/NAME, the passes of earlier parts run
/// first, and the record of a trial has a table per part.
std::unique_ptr<SearchSpace> combine(std::vector<SpacePart> parts);

}  // namespace mase::search
