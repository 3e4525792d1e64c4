// SPDX-License-Identifier: Apache-2.0
// A folder whose content may come from a stranger: writes below it stay below it.
#pragma once

#include <string>

namespace mase {

/// After this call `place_to_write` refuses paths that lead out of `folder`. The path of the folder
/// itself may have links, since its user named it.
void keep_writes_inside(const std::string& folder);

/// The place to which `path` is written. For a path below a folder of keep_writes_inside it is the
/// path without links; Error(Fault::file) when a link, even one to nothing, leads out of the
/// folder, or when something is there that is neither a file nor a folder. Other paths are returned
/// unchanged.
std::string place_to_write(const std::string& path);

}  // namespace mase
