// SPDX-License-Identifier: Apache-2.0
// Several spaces searched together, each with its parameters under a name of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/spaces/search_space.hpp"

namespace mase::search {

/// A space and what it is called among others.
struct SpacePart {
  std::string name;  ///< "channels"
  std::unique_ptr<SearchSpace> space;
};

/// The parts as one space: a parameter is called PART/NAME, the passes of earlier parts run first,
/// and what is recorded of a trial has a table per part.
std::unique_ptr<SearchSpace> combine(std::vector<SpacePart> parts);

}  // namespace mase::search
