// SPDX-License-Identifier: Apache-2.0
// The content is put into a file in memory, whose descriptor is sent over a socket pair. The answer
// is the text of an error, or empty.
#include "sandbox/door.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"

namespace mase::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_message = 2 * PATH_MAX;

struct Message {
  std::string text;
  int descriptor = -1;
};

/// Sends a message, with a descriptor if there is one. Returns false if the other side has ended.
bool send_message(int socket, const std::string& text, int descriptor) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const attached = CMSG_FIRSTHDR(&header);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(attached), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(socket, &header, MSG_NOSIGNAL)) < 0 && errno == EINTR) continue;
  return sent >= 0;
}

std::optional<Message> receive_message(int socket) {
  Message message;
  message.text.resize(longest_message);
  iovec part{message.text.data(), message.text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  if (got <= 0) return std::nullopt;
  message.text.resize(static_cast<std::size_t>(got));
  const cmsghdr* const attached = CMSG_FIRSTHDR(&header);
  if (attached && attached->cmsg_type == SCM_RIGHTS)
    std::memcpy(&message.descriptor, CMSG_DATA(attached), sizeof message.descriptor);
  return message;
}

std::string through_descriptor(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// Whether `path` is `named`, or `y_KEY.npy` of a named `y.npy`.
bool is_output(const std::string& path, const std::string& named) {
  if (path == named) return true;
  const fs::path asked(path), allowed(named);
  return asked.parent_path() == allowed.parent_path() && asked.filename() != ".." &&
         asked.extension() == allowed.extension() &&
         asked.stem().string().starts_with(allowed.stem().string() + "_");
}

bool is_one_of(const std::string& path, const std::vector<std::string>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](const std::string& output) { return is_output(path, output); });
}

/// The process on the other side, which keeps its rights.
class Keeper {
 public:
  Keeper(int socket, std::vector<std::string> outputs)
      : socket_(socket), outputs_(std::move(outputs)) {}

  void serve() const {
    while (const auto message = receive_message(socket_)) {
      const std::string answer = store(*message);
      if (message->descriptor >= 0) ::close(message->descriptor);
      // A message in a stream of packets cannot be empty, so an answer begins with a character.
      if (!send_message(socket_, "." + answer.substr(0, longest_message - 1), -1)) return;
    }
  }

 private:
  std::string store(const Message& message) const {
    if (!is_one_of(message.text, outputs_) || message.descriptor < 0)
      return "cannot write '" + message.text + "': it was not named as an output";
    try {
      write_file(message.text, read_file(through_descriptor(message.descriptor), SIZE_MAX));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  int socket_;
  std::vector<std::string> outputs_;
};

[[noreturn]] void keep_door(int socket, const std::vector<std::string>& outputs,
                            const std::vector<std::string>& made) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  // A reader that waits for the end of this program's output must not wait for this process.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {0, 1, 2}) ::dup2(null, standard);
  Keeper(socket, outputs).serve();
  for (const std::string& folder : made) ::rmdir(folder.c_str());
  ::_exit(0);
}

/// Passes one file to the other side. Error(Fault::file) with the other side's reason.
void hand_over(int socket, const std::string& path,
               const std::function<void(const std::string&)>& write) {
  const int memory = ::memfd_create("output", MFD_CLOEXEC);
  if (memory < 0) file_error("cannot write '" + path + "': " + std::strerror(errno));
  try {
    write(through_descriptor(memory));
  } catch (...) {
    ::close(memory);
    throw;
  }
  const bool sent = send_message(socket, path, memory);
  ::close(memory);
  const auto answer = sent ? receive_message(socket) : std::nullopt;
  if (!answer) file_error("cannot write '" + path + "': the process that writes outputs has ended");
  if (answer->text.size() > 1) file_error(answer->text.substr(1));
}

}  // namespace

void open_door(const std::vector<std::string>& outputs, const std::vector<std::string>& made) {
  if (outputs.empty() && made.empty()) return;
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    file_error(std::string("the sandbox cannot be entered: ") + std::strerror(errno));
  const pid_t keeper = ::fork();
  if (keeper < 0) file_error(std::string("the sandbox cannot be entered: ") + std::strerror(errno));
  if (keeper == 0) {
    ::close(sockets[0]);
    keep_door(sockets[1], outputs, made);
  }
  ::close(sockets[1]);
  write_named_files_by(
      [socket = sockets[0], outputs](const std::string& path,
                                     const std::function<void(const std::string&)>& write) {
        const bool named = is_one_of(path, outputs);
        if (named) hand_over(socket, path, write);
        return named;
      });
}

}  // namespace mase::sandbox
