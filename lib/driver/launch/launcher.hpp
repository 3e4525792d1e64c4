// SPDX-License-Identifier: Apache-2.0
// Launcher starts the commands of a launch and watches them, from a process of its own that keeps
// the rights which this one gives up before it reads a model.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "driver/launch/launch.hpp"

namespace mase::driver {

/// How a command ended.
struct LaunchEnd {
  std::string name;       ///< of the command
  int status = 0;         ///< exit status; 128 + the signal's number if a signal ended it
  std::string last_line;  ///< of what it printed
};

/// Commands that run beside this process. They outlive it, also when it is killed.
class Launcher {
 public:
  /// Makes the process that will start the commands, each with a file in `logs`. No other thread
  /// may run, and the sandbox must not have been entered. Error(Fault::file) if that fails.
  Launcher(const std::vector<LaunchCommand>& commands, const std::string& logs);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();

  void start();
  /// Asks the workers to finish their trials and to end.
  void stop();
  /// False once all commands have ended.
  bool is_running() const { return socket_.has_value(); }
  /// Waits for a command's end, at most so long.
  std::optional<LaunchEnd> wait(std::chrono::milliseconds most);

 private:
  void send(const std::string& word);

  std::optional<Descriptor> socket_;
  pid_t starter_ = -1;
};

}  // namespace mase::driver
