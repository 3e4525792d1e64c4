// SPDX-License-Identifier: Apache-2.0
// Turns Ctrl-C into a flag, so that long commands can end where nothing is half done.
#pragma once

#include <atomic>

namespace mase {

/// After this call SIGINT, SIGTERM and SIGHUP only set a flag (SIGHUP stays ignored under nohup); a
/// second signal ends the program as usual.
void catch_interrupts();

/// From now on the signals print nothing, since a process that this one has started says it.
void leave_interrupt_message_to_others();

/// The flag that the signals set.
const std::atomic<bool>& interrupt_flag();

/// True when a signal has come and no FinishFirst exists.
bool stop_asked();

/// Throws Error(Fault::interrupted) when stop_asked(). Loops that run for seconds call it where
/// leaving them loses only the time spent.
void stop_if_asked();

/// While such an object exists, stop_asked() is false: its owner looks at the flag itself and ends
/// between two of its steps. (A search ends between trials, not inside a trial.)
class FinishFirst {
 public:
  FinishFirst();
  ~FinishFirst();
  FinishFirst(const FinishFirst&) = delete;
  FinishFirst& operator=(const FinishFirst&) = delete;
};

}  // namespace mase
