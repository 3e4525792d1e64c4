// SPDX-License-Identifier: Apache-2.0
// The two processes have a socket pair; one message is one packet.
#include "driver/launch/launcher.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "driver/launch/starter.hpp"

namespace mase::driver {

Launcher::Launcher(const std::vector<LaunchCommand>& commands, const std::string& logs) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    file_error(std::string("cannot start workers: socketpair: ") + std::strerror(errno));
  starter_ = ::fork();
  if (starter_ == 0) {
    ::close(ends[0]);
    serve_launcher(ends[1], commands, logs);
  }
  ::close(ends[1]);
  socket_.emplace(ends[0]);
  if (starter_ < 0) file_error(std::string("cannot start workers: fork: ") + std::strerror(errno));
}

Launcher::~Launcher() {
  socket_.reset();
  while (starter_ > 0 && ::waitpid(starter_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Launcher::start() { send(start_request); }
void Launcher::stop() { send(stop_request); }

/// A starter that is gone shows in wait().
void Launcher::send(const std::string& word) {
  if (socket_) ::send(socket_->number(), word.data(), word.size(), MSG_NOSIGNAL);
}

std::optional<LaunchEnd> Launcher::wait(std::chrono::milliseconds most) {
  if (!socket_) return std::nullopt;
  pollfd polled{socket_->number(), POLLIN, 0};
  if (::poll(&polled, 1, static_cast<int>(most.count())) <= 0) return std::nullopt;
  std::array<char, 65536> buffer;
  const ssize_t count = ::recv(socket_->number(), buffer.data(), buffer.size(), 0);
  if (count < 0 && errno == EINTR) return std::nullopt;
  if (count <= 0) {
    socket_.reset();
    return std::nullopt;
  }
  const std::string text(buffer.data(), static_cast<std::size_t>(count));
  const std::vector<std::string> lines = split(text, '\n');
  MASE_CHECK(lines.size() == 3, "an answer of the starter has three lines");
  return LaunchEnd{lines[1], static_cast<int>(parse_int(lines[0]).value_or(-1)), lines[2]};
}

}  // namespace mase::driver
