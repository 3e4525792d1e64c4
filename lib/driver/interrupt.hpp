// SPDX-License-Identifier: Apache-2.0
// Interrupt: Ctrl-C as a flag, so that long commands finish what they are at.
#pragma once

#include <atomic>

namespace mase::driver {

/// While one exists, SIGINT and SIGTERM set `asked`; a second signal ends the program as usual.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static const std::atomic<bool>& asked();
};

}  // namespace mase::driver
