// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a flag, so that long commands end where nothing is half done.
#pragma once

#include <atomic>

namespace mase {

/// From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as nohup has it) only set a flag;
/// a second signal ends the program as usual.
void catch_interrupts();

/// The flag.
const std::atomic<bool>& interrupt_flag();

/// Whether a signal has come and nobody is finishing (FinishFirst).
bool stop_asked();

/// Throws Error(Fault::interrupted) when stop_asked(). Loops of seconds call it where leaving them
/// loses nothing but the time spent.
void stop_if_asked();

/// While one exists stop_asked() is false: its owner looks at the flag itself and ends between two
/// of its steps. (A search ends between trials; a trial is not stopped inside.)
class FinishFirst {
 public:
  FinishFirst();
  ~FinishFirst();
  FinishFirst(const FinishFirst&) = delete;
  FinishFirst& operator=(const FinishFirst&) = delete;
};

}  // namespace mase
