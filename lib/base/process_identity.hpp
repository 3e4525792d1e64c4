// SPDX-License-Identifier: Apache-2.0
// The identity of a process, for other processes that find it in a file. On the same host they can
// tell whether it still runs; elsewhere they can tell that they cannot know.
#pragma once

#include <cstdint>
#include <string>

namespace mase {

struct ProcessIdentity {
  std::string host;
  /// The running kernel and the process numbers that it shows here. It differs between containers
  /// with the same host name and machines cloned from one image. The part before the blank
  /// identifies the kernel since its boot; "" when the kernel does not say.
  std::string space;
  std::int64_t pid = 0;
  /// Its start in clock ticks since boot, since another process may have the same number later.
  std::string started;

  std::string boot() const { return space.substr(0, space.find(' ')); }
};

ProcessIdentity own_process();

/// True when the process could be seen from here and no longer exists.
bool is_dead_here(const ProcessIdentity& process);

}  // namespace mase
