// SPDX-License-Identifier: Apache-2.0
// The signal handler sets a lock-free flag, all that a handler may do.
#include "driver/interrupt.hpp"

#include <csignal>

namespace mase::driver {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void handle(int signal) {
  flag = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  flag = false;
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& Interrupt::asked() { return flag; }

}  // namespace mase::driver
