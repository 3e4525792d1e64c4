// SPDX-License-Identifier: Apache-2.0
// The shell reads from a pipe whose other end is held by this process only.
#include "base/end_with_us.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/error.hpp"

extern char** environ;

namespace mase {
namespace {

/// The second line never comes: the read ends when the process that could write it ends.
constexpr const char* script = R"(read -r target && { read -r end; kill -s KILL -- "$target"; })";

/// Starts the shell in its own session, so that a signal to the terminal's programs spares it.
int start_shell(int input, pid_t& shell) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::array<std::string, 3> words{"sh", "-c", script};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int error =
      ::posix_spawn(&shell, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

EndWithUs::EndWithUs() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    file_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  const int error = start_shell(ends[0], shell_);
  ::close(ends[0]);
  pipe_ = ends[1];
  if (error == 0) return;
  ::close(pipe_);
  file_error(std::string("cannot start /bin/sh: ") + std::strerror(error));
}

EndWithUs::~EndWithUs() {
  ::kill(shell_, SIGKILL);
  while (::waitpid(shell_, nullptr, 0) < 0 && errno == EINTR) continue;
  ::close(pipe_);
}

void EndWithUs::watch(pid_t target) const {
  const std::string line = std::to_string(target) + "\n";
  [[maybe_unused]] const auto written = ::write(pipe_, line.data(), line.size());
}

}  // namespace mase
