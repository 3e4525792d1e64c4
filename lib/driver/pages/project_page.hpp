// SPDX-License-Identifier: Apache-2.0
// The page of a project: charts and tables of the results that its commands have recorded.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"

namespace mase::driver {

/// A record that Output::record stored under a name.
struct ProjectRecord {
  std::string name;  ///< "train", "transform", "emit", "simulate", "test_validation_integer", ...
  Tree content;
};

/// The page as HTML. `links` are names and paths of other pages, relative to its folder.
std::string project_page(const std::string& project, const std::vector<ProjectRecord>& records,
                         const std::vector<std::pair<std::string, std::string>>& links);

}  // namespace mase::driver
