// SPDX-License-Identifier: Apache-2.0
// Running graphviz's `dot` as a child process with pipes: no shell, no temporary files.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/descriptor.hpp"
#include "ir/draw.hpp"

namespace mase::ir {
namespace {

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    file_error(std::string("cannot run 'dot': no pipe: ") + std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

constexpr int not_started = 127;

/// The kernel ends `dot` when this program ends. The child ends with `not_started` without `dot`.
pid_t start_dot(const Pipe& in, const Pipe& out, std::string format) {
  std::string program = "dot";
  format.insert(0, "-T");
  const std::array<char*, 3> arguments{program.data(), format.data(), nullptr};
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) file_error(std::string("cannot run 'dot': ") + std::strerror(errno));
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) {
    ::dup2(in.read.number(), STDIN_FILENO);
    ::dup2(out.write.number(), STDOUT_FILENO);
    ::execvp(program.c_str(), arguments.data());
  }
  ::_exit(not_started);
}

// Writes as much as the pipe takes; closes it at the end of the text or when the reader is gone.
void feed(Descriptor& in, std::string_view& rest) {
  const ssize_t written = ::write(in.number(), rest.data(), rest.size());
  if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  const bool failed = written < 0 && errno != EAGAIN && errno != EINTR;
  if (rest.empty() || failed) in.close();
}

void drain(Descriptor& out, std::string& result) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(out.number(), buffer.data(), buffer.size());
  if (count > 0)
    result.append(buffer.data(), static_cast<std::size_t>(count));
  else if (count == 0 || (errno != EINTR && errno != EAGAIN))
    out.close();
}

// Writes and reads at the same time, because `dot` may answer before it has read everything.
std::string exchange(Descriptor& in, Descriptor& out, std::string_view text) {
  ::fcntl(in.number(), F_SETFL, O_NONBLOCK);
  std::string result;
  while (out.is_open()) {
    std::array<pollfd, 2> waits{pollfd{out.number(), POLLIN, 0}, pollfd{in.number(), POLLOUT, 0}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
    if (waits[1].revents != 0) feed(in, text);
    if (waits[0].revents != 0) drain(out, result);
  }
  return result;
}

/// Ignores SIGPIPE while a child may close its input early.
class PipeSignalIgnored {
 public:
  PipeSignalIgnored() { previous_ = ::signal(SIGPIPE, SIG_IGN); }
  ~PipeSignalIgnored() { ::signal(SIGPIPE, previous_); }
  PipeSignalIgnored(const PipeSignalIgnored&) = delete;
  PipeSignalIgnored& operator=(const PipeSignalIgnored&) = delete;

 private:
  void (*previous_)(int);
};

int exit_status(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string to_picture(const Graph& graph, const std::string& format) {
  const std::string dot = to_dot(graph);
  const PipeSignalIgnored ignored;
  Pipe in = make_pipe(), out = make_pipe();
  const pid_t child = start_dot(in, out, format);
  in.read.close();
  out.write.close();
  std::string picture = exchange(in.write, out.read, dot);
  in.write.close();
  const int status = exit_status(child);
  if (status == not_started)
    file_error(
        "cannot run graphviz's 'dot' to draw the graph; install the package graphviz, or use the "
        "dot form, which needs no program");
  if (status != 0 || picture.empty())
    file_error("graphviz's 'dot' failed with status " + std::to_string(status));
  return picture;
}

}  // namespace mase::ir
