// SPDX-License-Identifier: Apache-2.0
// Worker processes of a test: forked, so that each opens its own connection and can be killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <vector>

namespace mase::test {

/// The process's id; it ends with 0, or with 1 after an exception, and runs no destructors of the
/// test itself.
inline pid_t start_process(const std::function<void()>& work) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  try {
    work();
  } catch (const std::exception& error) {
    const std::string line = std::string(error.what()) + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) ::_exit(2);
    ::_exit(1);
  }
  ::_exit(0);
}

/// True when the process ended by itself with status 0.
inline bool ended_well(pid_t process) {
  int status = 0;
  return ::waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Runs `work(i)` in `count` processes at once; whether all ended well.
inline bool in_processes(int count, const std::function<void(int)>& work) {
  std::vector<pid_t> processes;
  for (int i = 0; i < count; ++i) processes.push_back(start_process([&, i] { work(i); }));
  bool good = true;
  for (const pid_t process : processes) good = ended_well(process) && good;
  return good;
}

}  // namespace mase::test
