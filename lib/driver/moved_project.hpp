// SPDX-License-Identifier: Apache-2.0
// Configurations that lie in a project name it as it was when they were written. A project may have
// been moved since, or copied.
#pragma once

#include <string>

#include "base/tree.hpp"

namespace mase::driver {

/// Changes what a command wrote into a project (config.toml, transform.toml): `project_dir` and
/// `project` become those of the project in which the file lies now, and paths into the old place
/// become paths into this one. Leaves other files alone, and those that name the right place.
/// Returns whether anything has changed.
bool follow_project(const std::string& path, Tree& file);

/// Whether a file in a project has these settings, apart from the place where it was written.
bool was_written_with(const std::string& path, const std::string& settings);

}  // namespace mase::driver
