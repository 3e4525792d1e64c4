// SPDX-License-Identifier: Apache-2.0
// A signal handler with its own stack, so that endless recursion is reported, too.
#include "base/crash.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "base/error.hpp"

namespace mase {
namespace {

thread_local Running::What running{Running::Kind::pass, nullptr, ""};
thread_local std::array<char, 128> node_looked_at{};  // a copy: the node may be gone by then
int report_to = 2;
std::array<char, 1 << 16> handler_stack;

constexpr std::array fatal_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const char* name_of_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "an invalid memory access";
    case SIGBUS:
      return "an invalid memory access (SIGBUS)";
    case SIGFPE:
      return "an impossible division";
    case SIGILL:
      return "an invalid instruction";
    default:
      return "an abort";
  }
}

/// Builds the line; only functions that are safe in a signal handler may be called.
class Line {
 public:
  Line& operator<<(const char* text) {
    const std::size_t size = std::min(std::strlen(text), text_.size() - used_);
    std::memcpy(text_.data() + used_, text, size);
    used_ += size;
    return *this;
  }
  void write_to(int descriptor) const {
    [[maybe_unused]] const auto written = ::write(descriptor, text_.data(), used_);
  }

 private:
  std::array<char, 2048> text_{};
  std::size_t used_ = 0;
};

void handle_crash(int signal) {
  const bool named = running.name && *running.name;
  const bool by_file = named && running.kind != Running::Kind::pass;
  Line line;
  if (report_to == STDERR_FILENO) line << "error: ";
  if (by_file)
    line << (running.kind == Running::Kind::reading ? "reading " : "the operator ") << running.name;
  else if (named)
    line << "a defect of mase: the pass " << running.name;
  else
    line << "a defect of mase: the program";
  if (named && *running.place) line << " of node '" << running.place << "'";
  line << " was ended by " << name_of_signal(signal);
  if (by_file) line << "; the content of the file is not valid: it is damaged or hostile";
  if (named && !by_file && node_looked_at.front())
    line << "; the last node that it looked at is '" << node_looked_at.data() << "'";
  if (report_to == STDERR_FILENO) line << "\n";
  line.write_to(report_to);
  ::_exit(static_cast<int>(by_file ? Fault::file : Fault::internal));
}

}  // namespace

Running::Running(Kind kind, const char* name, const char* place) : before_(running) {
  running = {kind, name, place};
  if (kind == Kind::pass) look_at("");
}
Running::~Running() { running = before_; }

void Running::look_at(std::string_view node) noexcept {
  const std::size_t kept = std::min(node.size(), node_looked_at.size() - 1);
  node.copy(node_looked_at.data(), kept);
  node_looked_at[kept] = '\0';
}

void report_crashes(int descriptor) {
  report_to = descriptor;
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  ::sigaltstack(&stack, nullptr);
  for (const int signal : fatal_signals) {
    struct sigaction action {};
    action.sa_handler = handle_crash;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace mase
