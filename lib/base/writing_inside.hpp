// SPDX-License-Identifier: Apache-2.0
// A folder whose content may come from a stranger: what is written below it stays below it.
#pragma once

#include <string>

namespace mase {

/// From now on `place_to_write` refuses what leads out of `folder`. The folder itself may be
/// reached through links: its user named it.
void keep_writes_inside(const std::string& folder);

/// Where to write what is called `path`. For a path below a folder of keep_writes_inside it is the
/// path without links; Error(Fault::file) when a link, also one to nothing, leads out of the
/// folder, or when there is something that is neither a file nor a folder. Any other path stays as
/// it is.
std::string place_to_write(const std::string& path);

}  // namespace mase
