// SPDX-License-Identifier: Apache-2.0
// The signal handler only sets a lock-free flag and writes a line, as a handler may.
#include "base/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "base/error.hpp"

namespace mase {
namespace {

std::atomic<bool> flag{false};
std::atomic<bool> silent{false};
std::atomic<int> finishing{0};
static_assert(std::atomic<bool>::is_always_lock_free);

void handle(int signal) {
  flag = true;
  std::signal(signal, SIG_DFL);
  if (silent) return;
  static constexpr char line[] = "\nstopping; once more ends at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, sizeof line - 1);
}

}  // namespace

void catch_interrupts() {
  flag = false;
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
  if (std::signal(SIGHUP, handle) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
}

void leave_interrupt_message_to_others() { silent = true; }

const std::atomic<bool>& interrupt_flag() { return flag; }

bool stop_asked() { return flag && finishing == 0; }

void stop_if_asked() {
  if (stop_asked()) throw Error(Fault::interrupted, "stopped; nothing was written");
}

FinishFirst::FinishFirst() { ++finishing; }
FinishFirst::~FinishFirst() { --finishing; }

}  // namespace mase
