// SPDX-License-Identifier: Apache-2.0
// The child reports an error's text through a pipe; the end of the pipe is the end of the child.
#include "sandbox/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "sandbox/policy.hpp"

namespace mase::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

void write_all(int descriptor, const void* from, std::size_t size) {
  const char* next = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t count = ::write(descriptor, next, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) file_error(std::string("cannot pass a result on: ") + std::strerror(errno));
    next += count;
    size -= static_cast<std::size_t>(count);
  }
}

/// The child's side: exits with 0 and no text, or with the exit code of an error and its text.
[[noreturn]] void work_and_exit(int report, const std::function<void()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl-C reaches both processes; the parent decides what to do.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  report_crashes(report);
  int code = 0;
  std::string text;
  try {
    keep_reading_only();
    work();
  } catch (const Error& error) {
    code = error.exit_code();
    text = error.what();
  } catch (const std::bad_alloc&) {
    code = static_cast<int>(Fault::file);
    text = out_of_memory();
  } catch (const std::exception& error) {
    code = static_cast<int>(Fault::internal);
    text = error.what();
  }
  std::fflush(nullptr);
  write_all(report, text.data(), text.size());
  ::_exit(code);
}

struct Ending {
  std::string text;
  int status = 0;
  bool timed_out = false;
};

/// Reads the child's text until the child ends, its time is up, or the user asks to stop.
Ending follow(pid_t child, int report, double seconds) {
  Ending ending;
  const auto begin = Clock::now();
  std::array<char, 4096> buffer;
  while (true) {
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    ending.timed_out = seconds > 0 && passed >= seconds;
    if (ending.timed_out || stop_asked()) break;
    pollfd polled{report, POLLIN, 0};
    if (::poll(&polled, 1, 1000) <= 0) continue;
    const ssize_t count = ::read(report, buffer.data(), buffer.size());
    if (count > 0) ending.text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  if (ending.timed_out || stop_asked()) ::kill(child, SIGKILL);
  while (::waitpid(child, &ending.status, 0) < 0 && errno == EINTR) continue;
  return ending;
}

[[noreturn]] void fail(const std::string& what, double seconds, const Ending& ending) {
  stop_if_asked();
  if (ending.timed_out)
    file_error(what + " took more than " + fixed_text(seconds, 0) +
               " s and was stopped; allow more time with --max-seconds, or look for an endless "
               "loop in the model's code");
  if (WIFSIGNALED(ending.status))
    file_error(what + " was ended by signal " + std::to_string(WTERMSIG(ending.status)) +
               (WTERMSIG(ending.status) == SIGKILL ? ", perhaps for lack of memory" : ""));
  const auto fault = static_cast<Fault>(WEXITSTATUS(ending.status));
  throw Error(fault, ending.text.empty() ? what + " failed without a message" : ending.text);
}

}  // namespace

SharedFile::SharedFile() : file_(::memfd_create("result", MFD_CLOEXEC)) {
  if (!file_.is_open()) file_error(std::string("no file in memory: ") + std::strerror(errno));
}

void SharedFile::append(std::span<const std::byte> bytes) {
  write_all(file_.number(), bytes.data(), bytes.size());
}

void SharedFile::take(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(read_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) file_error("the result of the child process is incomplete");
    read_ += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::size_t SharedFile::left() const {
  struct stat info {};
  const bool known = ::fstat(file_.number(), &info) == 0;
  const auto size = known ? static_cast<std::size_t>(info.st_size) : 0;
  return size > read_ ? size - read_ : 0;
}

void run_in_child(const std::string& what, double seconds, const std::function<void()>& work) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) file_error(what + ": pipe: " + std::strerror(errno));
  std::fflush(nullptr);  // buffered text would be written twice
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    work_and_exit(pipe[1], work);
  }
  ::close(pipe[1]);
  if (child < 0) {
    ::close(pipe[0]);
    file_error(what + ": fork: " + std::strerror(errno));
  }
  const Ending ending = follow(child, pipe[0], seconds);
  ::close(pipe[0]);
  const bool good = WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 0;
  if (!good || ending.timed_out || stop_asked()) fail(what, seconds, ending);
}

}  // namespace mase::sandbox
