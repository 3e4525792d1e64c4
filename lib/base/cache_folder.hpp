// SPDX-License-Identifier: Apache-2.0
// The cache folder: this user's programs keep files in it that they can make again.
#pragma once

#include <string>

namespace mase {

/// `mase` below $XDG_CACHE_HOME or ~/.cache.
struct CacheFolder {
  std::string path;     ///< absolute, without links; empty when no folder can be used
  std::string problem;  ///< why not, and the remedy; also empty when the user has no home
};

/// Makes the folder when it is missing, with access for the user only. A folder into which others
/// could put files is refused, because programs in it are run: it and the folders above it must
/// belong to the user or the system, and nobody else may write there. (Folders like /tmp may be
/// above it: everybody may write there, but not touch the files of others.)
CacheFolder cache_folder();

/// What others could do to `path`, a folder without links; empty when they can do nothing.
std::string unsafe_folder(const std::string& path);

}  // namespace mase
