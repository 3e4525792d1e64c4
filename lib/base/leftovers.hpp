// SPDX-License-Identifier: Apache-2.0
// Names for what is not complete yet, and the removal of what processes that died have left.
#pragma once

#include <string>

namespace mase {

/// ".tmp-" and what names this process, and no other call of this function in any process: process
/// numbers repeat in containers and on other machines that share a folder. What a program writes
/// has a name that ends so until it is complete.
std::string temporary_suffix();

/// ".NAME.tmp-..." in the folder of `path`, NAME shortened where that would be too long a name.
std::string temporary_name(const std::string& path);

/// The system's folder for temporary files: $TMPDIR, or /tmp. Error(Fault::file) when it is none.
std::string temporary_folder();

/// Removes the files and folders in `folder` whose names end in a temporary_suffix() of a process
/// that has died, of this user. What belongs to processes that cannot be seen from here, in other
/// containers and on other hosts, stays; only of this host before it was started anew it goes after
/// a day. What cannot be removed stays without a word.
void sweep_leftovers(const std::string& folder);
/// As well in all folders below.
void sweep_leftovers_below(const std::string& folder);

}  // namespace mase
