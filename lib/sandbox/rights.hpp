// SPDX-License-Identifier: Apache-2.0
// Taking rights away from this process, for good: files by Landlock, system calls by seccomp.
#pragma once

#include <string>
#include <vector>

namespace mase::sandbox {

/// What a process keeps. Paths that do not exist give no right; those of files and folders count
/// with all that is below them.
struct Rights {
  std::vector<std::string> read;
  std::vector<std::string> write;    ///< read, changed, made and removed
  std::vector<std::string> execute;  ///< programs, or folders of programs; none: exec is refused
  bool network = false;              ///< sockets may be opened
};

/// What the running kernel can enforce.
struct Support {
  int landlock = 0;  ///< version of Landlock's interface; 0: none. Files are covered from 3 on
  bool seccomp = false;

  bool full() const { return landlock >= 3 && seccomp; }
  std::string text() const;  ///< "Landlock 7 (files, signals), seccomp", or what is missing
};
Support support();

/// Takes away from the calling thread, and from all threads and processes that it will start, what
/// `rights` does not name; what the kernel cannot enforce is left as it is. Files that are open
/// stay usable. Error(Fault::file) when the kernel refuses.
void keep_only(const Rights& rights);

}  // namespace mase::sandbox
