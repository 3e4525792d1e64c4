// SPDX-License-Identifier: Apache-2.0
// Other programs that end when this one does, however it does.
#pragma once

#include <sys/types.h>

namespace mase {

/// A small shell that waits for the end of this process, also by a signal that cannot be caught,
/// and then kills the program it was told of, or a process group: the kernel's own signal at a
/// parent's death reaches children, but not theirs (make starts compilers). What leaves its group
/// is not reached.
class EndWithUs {
 public:
  EndWithUs();  ///< Error(Fault::file) when the shell cannot be started
  EndWithUs(const EndWithUs&) = delete;
  EndWithUs& operator=(const EndWithUs&) = delete;
  ~EndWithUs();  ///< from now on nothing is killed

  /// A program, or with the sign changed a group, as kill(2) takes it.
  void watch(pid_t target) const;

 private:
  int pipe_ = -1;
  pid_t shell_ = -1;
};

}  // namespace mase
