// SPDX-License-Identifier: Apache-2.0
// Writes to stdout with write(2), which reports errors at once; nothing is buffered.
#include "base/standard_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace mase {
namespace {

std::atomic<int> first_error{0};

void note_error(int code) {
  int none = 0;
  first_error.compare_exchange_strong(none, code);
}

/// Another process that shares the terminal or pipe may have made it non-blocking.
bool wait_for_room() {
  pollfd wait{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

void occupy_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // This is the lowest free number, since those below are open by now. stdout is opened for
    // reading, so that writing to it still fails.
    ::open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_room()))) continue;
    if (count < 0) return note_error(errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void check_printed() {
  if (const int code = first_error)
    file_error(std::string("cannot write to standard output: ") + std::strerror(code) +
               "; what was printed there is incomplete");
}

}  // namespace mase
