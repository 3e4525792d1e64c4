// SPDX-License-Identifier: Apache-2.0
// Pointers of Git LFS: the small texts that stand in the place of large files where a repository,
// such as one of a hub, was cloned without them.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace mase {

/// Error(Fault::file) if the bytes of the file at `path` begin as such a pointer.
inline void refuse_lfs_pointer(std::string_view bytes, const std::string& path) {
  if (bytes.starts_with("version https://git-lfs.github.com/spec/"))
    file_error(path +
               " is a pointer of Git LFS, not the file itself; run 'git lfs pull' in its "
               "repository, or download the file");
}

}  // namespace mase
