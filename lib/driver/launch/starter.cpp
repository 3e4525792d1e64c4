// SPDX-License-Identifier: Apache-2.0
// fork and exec of the commands of a launch. What they print goes to files and their input comes
// from pipes, so that nothing ties them to this process when it is killed.
#include "driver/launch/starter.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/last_message.hpp"
#include "driver/own_words.hpp"

namespace mase::driver {
namespace {

constexpr int look_again_ms = 50;

/// A command that was started.
struct Started {
  const LaunchCommand* command;
  std::string log;
  pid_t pid = -1;
  std::unique_ptr<Descriptor> input;  ///< the end to write to
  bool has_ended = false;
};

/// Opens a file for what a command prints, which no running command of another launcher has.
/// Returns its path and descriptor, which is negative where it cannot be opened.
std::pair<std::string, int> open_log(const std::string& stem) {
  for (int i = 1;; ++i) {
    std::string path = stem + (i == 1 ? "" : "_" + std::to_string(i)) + ".log";
    const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool is_taken = log >= 0 && ::flock(log, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && (log < 0 || ::ftruncate(log, 0) == 0)) return {std::move(path), log};
    ::close(log);
    if (!is_taken) return {std::move(path), -1};
  }
}

std::string last_message_in(const std::string& path) {
  try {
    return last_message(read_file(path));
  } catch (const Error& error) {
    return error.what();
  }
}

class Starter {
 public:
  Starter(int socket, const std::vector<LaunchCommand>& commands, const std::string& logs)
      : socket_(socket), commands_(commands), logs_(logs) {}

  /// Returns when the launcher is gone or everything has ended.
  void serve() {
    while (is_needed_) {
      pollfd polled{socket_, POLLIN, 0};
      if (::poll(&polled, 1, look_again_ms) > 0) take_request();
      look_for_ends();
    }
  }

 private:
  void take_request() {
    std::array<char, 64> buffer;
    const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (count <= 0) {
      is_needed_ = false;
      return;
    }
    const std::string_view request(buffer.data(), static_cast<std::size_t>(count));
    if (request == start_request) {
      for (const LaunchCommand& command : commands_) start(command);
      has_begun_ = true;
    }
    if (request == stop_request)
      for (Started& started : started_) ask_to_stop(started);
  }

  void start(const LaunchCommand& command) {
    auto [path, log] = open_log(logs_ + "/" + replace_all(command.name, " ", "_"));
    Started started{&command, std::move(path), -1, {}};
    std::array<int, 2> ends{-1, -1};
    if (log < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0)
      return tell(command.name, 127, started.log + ": " + std::strerror(errno));
    std::vector<std::string> words{"sh", "-c", command.script};
    const std::vector<char*> arguments = pointers_to(words);
    started.pid = ::fork();
    if (started.pid == 0) become(arguments.data(), ends[0], log);
    ::close(log);
    ::close(ends[0]);
    started.input = std::make_unique<Descriptor>(ends[1]);
    const std::string& input = command.input;  // shorter than the pipe is
    [[maybe_unused]] const auto written = ::write(ends[1], input.data(), input.size());
    started_.push_back(std::move(started));
  }

  [[noreturn]] static void become(char* const* arguments, int input, int log) {
    ::setsid();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
    ::dup2(input, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execvp(arguments[0], arguments);
    const std::string line = std::string("cannot start ") + arguments[0] + ": " +
                             std::strerror(errno) + "; is it installed, and in PATH?\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    ::_exit(127);
  }

  static void ask_to_stop(Started& started) {
    if (started.has_ended || !started.input->is_open()) return;
    [[maybe_unused]] const auto written = ::write(started.input->number(), "stop\n", 5);
    started.input->close();
  }

  void look_for_ends() {
    bool all_ended = has_begun_;
    for (Started& started : started_) {
      int status = 0;
      if (!started.has_ended && ::waitpid(started.pid, &status, WNOHANG) == started.pid) {
        started.has_ended = true;
        tell(started.command->name,
             WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
             last_message_in(started.log));
      }
      all_ended = all_ended && started.has_ended;
    }
    if (all_ended) is_needed_ = false;
  }

  void tell(const std::string& name, int status, const std::string& last_line) const {
    constexpr std::size_t longest = 4000;
    const std::string text =
        std::to_string(status) + "\n" + name + "\n" + last_line.substr(0, longest);
    ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }

  int socket_;
  const std::vector<LaunchCommand>& commands_;
  std::string logs_;
  std::vector<Started> started_;
  bool has_begun_ = false, is_needed_ = true;
};

}  // namespace

void serve_launcher(int socket, const std::vector<LaunchCommand>& commands,
                    const std::string& logs) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  Starter(socket, commands, logs).serve();
  ::_exit(0);
}

}  // namespace mase::driver
