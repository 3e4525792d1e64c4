// SPDX-License-Identifier: Apache-2.0
// fork and exec with both outputs read through pipes, a time limit, and a process group of its own
// that ends with this program.
#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/end_with_us.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"

extern char** environ;

namespace mase {
namespace {

using Clock = std::chrono::steady_clock;

/// Both ends of a pipe, closed when a program is started from another thread too.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      file_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::string how_to_get(const std::string& program) {
  const std::string command = install_command(program);
  return command.empty() ? ""
                         : "; install it, for example with `" + command + "`, or put it in PATH";
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const ProcessOptions& options) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view name =
        std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    const bool replaced = std::any_of(options.environment.begin(), options.environment.end(),
                                      [&](const auto& item) { return item.first == name; });
    if (!replaced) out.emplace_back(*entry);
  }
  for (const auto& [name, value] : options.environment) out.push_back(name + "=" + value);
  return out;
}

/// A started program and what it prints.
class Child {
 public:
  Child(const std::vector<std::string>& command, const ProcessOptions& options) {
    std::vector<std::string> words = command, environment = environment_with(options);
    std::vector<char*> arguments = pointers(words), variables = pointers(environment);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) file_error("cannot start " + command[0] + ": " + std::strerror(errno));
    if (pid_ == 0) become(arguments.data(), variables.data(), options.folder.c_str(), parent);
    ::setpgid(pid_, pid_);
    end_with_us_.watch(-pid_);
    out_.close_end(1);
    err_.close_end(1);
    started_.close_end(1);
    int error = 0;
    if (::read(started_.read_end(), &error, sizeof error) != sizeof error) return;
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    if (error < 0) file_error("cannot work in '" + options.folder + "': " + std::strerror(-error));
    file_error("cannot start " + command[0] + ": " + std::strerror(error) +
               (error == ENOENT ? how_to_get(command[0]) : ""));
  }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  ProcessResult wait(double seconds) {
    ProcessResult result;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
    bool stopped = false;
    while (!stopped && read_some(result, end)) {
      if (Clock::now() >= end) break;
      stopped = stop_asked();
    }
    result.timed_out = Clock::now() >= end;
    if (result.timed_out || stopped) ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    if (stopped) stop_if_asked();
    result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return result;
  }

 private:
  /// In the new process: only functions that are safe after fork. Tells the parent the error of
  /// exec, or that of chdir with the sign changed.
  [[noreturn]] void become(char* const* arguments, char* const* variables, const char* folder,
                           pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::dup2(out_.write_end(), 1);
    ::dup2(err_.write_end(), 2);
    const bool there = *folder == '\0' || ::chdir(folder) == 0;
    if (there) ::execvpe(arguments[0], arguments, variables);
    const int error = there ? errno : -errno;
    [[maybe_unused]] const auto written = ::write(started_.write_end(), &error, sizeof error);
    ::_exit(127);
  }

  /// False when both outputs are closed or the time is over.
  bool read_some(ProcessResult& result, Clock::time_point end) {
    std::array<pollfd, 2> polled{{{out_.read_end(), POLLIN, 0}, {err_.read_end(), POLLIN, 0}}};
    if (polled[0].fd < 0 && polled[1].fd < 0) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const auto milliseconds = std::clamp<std::int64_t>(left.count() + 1, 0, 1 << 30);
    if (::poll(polled.data(), polled.size(), static_cast<int>(milliseconds)) <= 0) return true;
    if (polled[0].revents != 0) read_from(out_, result.out);
    if (polled[1].revents != 0) read_from(err_, result.err);
    return true;
  }

  static void read_from(Pipe& pipe, std::string& text) {
    std::array<char, 65536> buffer;
    const auto count = ::read(pipe.read_end(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) pipe.close_end(0);
  }

  EndWithUs end_with_us_;
  Pipe out_, err_, started_;
  pid_t pid_ = -1;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  MASE_CHECK(!command.empty(), "a command without words");
  return Child(command, options).wait(options.seconds);
}

ProcessResult run_checked(const std::vector<std::string>& command, const ProcessOptions& options,
                          const std::string& what) {
  ProcessResult result = run_process(command, options);
  if (result.timed_out)
    file_error(what + " did not end within " + fixed_text(options.seconds, 0) + " s");
  if (result.status != 0)
    file_error(what + " failed (" + command[0] + " ended with status " +
               std::to_string(result.status) + "):\n" + last_lines(result, 20));
  return result;
}

std::string last_lines(const ProcessResult& result, std::size_t count) {
  const std::string_view text = trim(trim(result.err).empty() ? result.out : result.err);
  std::vector<std::string> lines = split(text, '\n');
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
  return join(lines, "\n");
}

std::string install_command(const std::string& program) {
  for (const char* known : {"verilator", "yosys", "make", "g++"})
    if (program == known) return "apt-get install " + program;
  if (program.starts_with("nextpnr-")) return "pip install yowasp-" + program;
  if (program == "aws") return "pip install awscli";
  return program == "dot" ? "apt-get install graphviz" : "";
}

std::string program_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "", ':'))
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  return "";
}

bool program_exists(const std::string& name) { return !program_path(name).empty(); }

void require_program(const std::string& name) {
  if (!program_exists(name)) file_error("cannot find " + name + how_to_get(name));
}

std::string program_here(const std::string& name) {
  const std::string wheel = "yowasp-" + name;
  return !program_exists(name) && program_exists(wheel) ? wheel : name;
}

}  // namespace mase
