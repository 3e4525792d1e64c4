// SPDX-License-Identifier: Apache-2.0
// Makes other programs end when this one ends, however it ends.
#pragma once

#include <sys/types.h>

namespace mase {

/// A small shell that waits until this process ends, even by a signal that cannot be caught, and
/// then kills the program or process group that watch() named. The kernel's own signal at a
/// parent's death reaches children, but not their children (make starts compilers). A process that
/// leaves the group is not killed.
class EndWithUs {
 public:
  EndWithUs();  ///< starts the shell; Error(Fault::file) when that fails
  EndWithUs(const EndWithUs&) = delete;
  EndWithUs& operator=(const EndWithUs&) = delete;
  ~EndWithUs();  ///< ends the shell, which then kills nothing

  /// Sets the process to kill; a negative number is a process group, as for kill(2).
  void watch(pid_t target) const;

 private:
  int pipe_ = -1;
  pid_t shell_ = -1;
};

}  // namespace mase
