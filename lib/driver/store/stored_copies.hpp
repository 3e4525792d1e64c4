// SPDX-License-Identifier: Apache-2.0
// This user's copies of files of stores. They take a limited space, and those that were not used
// for longest go first.
#pragma once

#include <string>

namespace mase::driver {

/// The bytes that copies may take: MASE_STORE_CACHE, in GB, or 20 GB. Error(Fault::config) if that
/// is not a number, or below 0.
double stored_copies_limit();

/// The folder of the copies of a point, whose point.json has the text `about`. Error(Fault::file)
/// if this user has no cache folder.
std::string stored_copy_folder(const std::string& address, const std::string& about);

/// Notes that a copy is used now, and removes others until all take `limit` bytes. What was used
/// within the last hour stays, as other processes may be about to open it.
void use_stored_copy(const std::string& path, double limit);

}  // namespace mase::driver
