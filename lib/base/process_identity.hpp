// SPDX-License-Identifier: Apache-2.0
// Who a process is, for others that find its name in a file: whether it still runs can be told on
// the same host, and elsewhere that it cannot be told.
#pragma once

#include <cstdint>
#include <string>

namespace mase {

struct ProcessIdentity {
  std::string host;
  /// The running kernel and the process numbers that it shows here: containers of one host name,
  /// and machines cloned from one image, differ in it. The part before the blank is the kernel's
  /// since its start. "" where the kernel does not say.
  std::string space;
  std::int64_t pid = 0;
  /// In clock ticks since boot, because a number alone could have been given to another process.
  std::string started;

  std::string boot() const { return space.substr(0, space.find(' ')); }
};

ProcessIdentity own_process();

/// Whether the process could be seen from here and is not there any more.
bool is_dead_here(const ProcessIdentity& process);

}  // namespace mase
