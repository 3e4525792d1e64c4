// SPDX-License-Identifier: Apache-2.0
// Names of files that are not yet complete, and the removal of files that dead processes have left.
#pragma once

#include <string>

namespace mase {

/// ".tmp-" and the identity of this process and this call, unique over all calls and processes
/// (process numbers repeat in containers and on other machines that share a folder). The name of a
/// file ends with it until the file is complete.
std::string temporary_suffix();

/// ".NAME.tmp-..." in the folder of `path`; NAME is shortened when the name would be too long.
std::string temporary_name(const std::string& path);

/// The folder for temporary files: $TMPDIR, or /tmp. Error(Fault::file) when it is not a folder.
std::string temporary_folder();

/// Removes this user's files and folders in `folder` whose names end in a temporary_suffix() of a
/// dead process. Files of processes that cannot be seen from here, in other containers and on other
/// hosts, stay; those from before this host's last boot go after a day. A file that cannot be
/// removed stays without a message.
void sweep_leftovers(const std::string& folder);
/// The same in `folder` and in all folders below it.
void sweep_leftovers_below(const std::string& folder);

}  // namespace mase
