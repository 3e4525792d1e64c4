// SPDX-License-Identifier: Apache-2.0
// The folder in which this user's programs keep what they can make again.
#pragma once

#include <string>

namespace mase {

/// `mase` below $XDG_CACHE_HOME or ~/.cache.
struct CacheFolder {
  std::string path;     ///< absolute, without links; empty: there is none that can be used
  std::string problem;  ///< why, and what to do; empty also where the user has no home
};

/// Makes the folder where it is missing, for the user alone. It is refused where others could put
/// files into it, because programs in it are run: it and what is above it must belong to the user
/// or the system, and nobody else may write there (folders like /tmp, where everybody may but not
/// touch what others have made, may be above it).
CacheFolder cache_folder();

/// What others could do to `path`, a folder without links; empty where they could do nothing.
std::string unsafe_folder(const std::string& path);

}  // namespace mase
