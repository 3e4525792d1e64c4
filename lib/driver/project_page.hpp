// SPDX-License-Identifier: Apache-2.0
// The page of a project: what its commands have recorded, as charts and tables.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"

namespace mase::driver {

/// One record: what Output::record stored under a name.
struct ProjectRecord {
  std::string name;  ///< "train", "transform", "emit", "simulate", "test_validation_integer", ...
  Tree content;
};

/// The page as HTML. `links`: paths of other pages from its folder, by their names.
std::string project_page(const std::string& project, const std::vector<ProjectRecord>& records,
                         const std::vector<std::pair<std::string, std::string>>& links);

}  // namespace mase::driver
