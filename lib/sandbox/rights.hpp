// SPDX-License-Identifier: Apache-2.0
// Permanently takes rights from this process: files with Landlock, system calls with seccomp.
#pragma once

#include <string>
#include <vector>

namespace mase::sandbox {

/// The rights that a process keeps. A path that does not exist gives no right; a folder stands for
/// everything below it.
struct Rights {
  std::vector<std::string> read;
  std::vector<std::string> write;      ///< read, change, create and remove
  std::vector<std::string> execute;    ///< programs or folders of programs; if empty, no exec
  bool network = false;                ///< may open sockets
  std::vector<std::string> devices{};  ///< files of devices, or their folders: read, write, control
};

/// What the running kernel can enforce.
struct Support {
  int landlock = 0;  ///< version of Landlock's interface, 0 if absent; covers files from 3 on
  bool seccomp = false;

  bool full() const { return landlock >= 3 && seccomp; }
  std::string text() const;  ///< "Landlock 7 (files, signals), seccomp", or what is missing
};
Support support();

/// Takes all rights that `rights` does not name from the calling thread and from all threads and
/// processes that it will start. Rights that the kernel cannot enforce are not restricted. Open
/// files stay usable. Error(Fault::file) if the kernel refuses.
void keep_only(const Rights& rights);

}  // namespace mase::sandbox
