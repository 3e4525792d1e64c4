// SPDX-License-Identifier: Apache-2.0
// The two processes have a socket pair. An order is one packet of JSON, and so is its answer.
#include "driver/store/store_writer.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "base/interrupt.hpp"
#include "base/tree.hpp"
#include "driver/store/stored_points.hpp"

namespace mase::driver {
namespace {

constexpr const char* claim_order = "claim";
constexpr const char* point_order = "point";
constexpr const char* files_order = "files";
constexpr const char* get_order = "get";
/// Tells the process to end. Others may hold the socket, so its closing would not.
constexpr const char* end_packet = "end";
constexpr std::size_t longest_packet = 65536;

void carry_out(const Store& store, const std::vector<std::string>& words) {
  if (words[0] == claim_order) claim_store(store, words[1]);
  if (words[0] == point_order) put_stored_point(store, words[1]);
  if (words[0] == get_order) get_stored_checkpoint(store, std::stoll(words[1]), words[2], words[3]);
  if (words[0] == files_order) store.put_files(words[1], {words.begin() + 2, words.end()}, "");
}

Tree answer_to(const Store& store, const std::string& packet) {
  Tree answer = Tree::dict();
  try {
    carry_out(store, words_in(parse_json(packet, "order")));
  } catch (const Error& error) {
    answer["fault"] = static_cast<int>(error.fault());
    answer["message"] = std::string(error.what()).substr(0, longest_packet / 8);
  } catch (const std::exception& error) {
    answer["fault"] = static_cast<int>(Fault::internal);
    answer["message"] = error.what();
  }
  return answer;
}

bool send_packet(int socket, const std::string& text) {
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) >= 0;
}

/// Returns nothing if the other process is gone.
std::optional<std::string> receive_packet(int socket) {
  std::array<char, longest_packet> buffer;
  ssize_t count = 0;
  do count = ::recv(socket, buffer.data(), buffer.size(), 0);
  while (count < 0 && errno == EINTR);
  if (count <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

/// Ends this process with the other one. The kernel's signal at a parent's death would not come:
/// its sender is the parent, whose sandbox lets no signal out.
void end_with(pid_t parent) {
  static constexpr std::chrono::milliseconds look_again{100};
  std::thread([parent] {
    while (::getppid() == parent) std::this_thread::sleep_for(look_again);
    ::_exit(0);
  }).detach();
}

/// Ctrl-C is for the other process, which then decides what is still copied.
[[noreturn]] void serve(int socket, const Store& store, pid_t parent) {
  end_with(parent);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  Store reached = store;
  for (auto packet = receive_packet(socket); packet && packet != end_packet;
       packet = receive_packet(socket)) {
    const Tree answer = answer_to(reached, *packet);
    // Where the store is away, every other order would wait as long.
    reached.set_patience(answer.find("fault") ? 0 : store.patience());
    if (!send_packet(socket, to_json(answer, -1))) break;
  }
  ::_exit(0);
}

StoreWriter::Failure failure_of(const Tree& answer) {
  const Tree* fault = answer.find("fault");
  if (!fault) return std::nullopt;
  return Error(static_cast<Fault>(fault->as_int()), answer.at("message").as_string());
}

}  // namespace

StoreWriter::StoreWriter(const Store& store) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    file_error(std::string("cannot copy to a store: socketpair: ") + std::strerror(errno));
  const pid_t parent = ::getpid(), process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    serve(ends[1], store, parent);
  }
  ::close(ends[1]);
  socket_.emplace(ends[0]);
  if (process < 0) file_error(std::string("cannot copy to a store: fork: ") + std::strerror(errno));
}

StoreWriter::~StoreWriter() {
  if (socket_) send_packet(socket_->number(), end_packet);
}

void StoreWriter::claim(const std::string& study, OnDone done) {
  send({claim_order, study}, std::move(done));
}

void StoreWriter::put_point(const std::string& folder, OnDone done) {
  send({point_order, folder}, std::move(done));
}

void StoreWriter::get_checkpoint(std::int64_t number, const std::string& parameters,
                                 const std::string& folder, OnDone done) {
  send({get_order, std::to_string(number), parameters, folder}, std::move(done));
}

void StoreWriter::put_files(const std::string& folder, std::vector<std::string> names,
                            OnDone done) {
  names.insert(names.begin(), {files_order, folder});
  send(names, std::move(done));
}

void StoreWriter::send(const std::vector<std::string>& words, OnDone done) {
  const std::string packet = to_json(Tree::list_of(words), -1);
  MASE_CHECK(packet.size() <= longest_packet, "an order to a store is one packet");
  if (!socket_ || !send_packet(socket_->number(), packet))
    return done(Error(Fault::file, "the process that copies to the store has ended"));
  orders_.push_back(std::move(done));
}

/// Returns whether an answer came in that time, or the other process is gone.
bool StoreWriter::take_answer(int milliseconds) {
  if (orders_.empty()) return false;
  std::optional<std::string> packet;
  if (socket_) {
    pollfd polled{socket_->number(), POLLIN, 0};
    if (::poll(&polled, 1, milliseconds) <= 0) return false;
    packet = receive_packet(socket_->number());
  }
  if (!packet) socket_.reset();
  const OnDone done = std::move(orders_.front());
  orders_.pop_front();
  done(packet ? failure_of(parse_json(*packet, "answer"))
              : Error(Fault::file, "the process that copies to the store has ended"));
  return true;
}

void StoreWriter::look() {
  while (take_answer(0)) continue;
}

void StoreWriter::wait() {
  constexpr int look_again_ms = 200;
  for (; !orders_.empty(); stop_if_asked()) take_answer(look_again_ms);
}

}  // namespace mase::driver
