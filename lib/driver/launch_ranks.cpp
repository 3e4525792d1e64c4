// SPDX-License-Identifier: Apache-2.0
// Starts processes that work together on this machine. The launcher opens the port where they meet,
// so that no other program can take it, and rank 0 inherits it. All inherit memory in which they
// sum. What the others print is kept for the case that they fail.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backend/lost_process.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "driver/last_message.hpp"
#include "driver/own_words.hpp"
#include "driver/ranks.hpp"

extern char** environ;

namespace mase::driver {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto glance = std::chrono::milliseconds(20);
/// Time for the others to notice that a process has ended, and to say so.
constexpr auto patience = std::chrono::seconds(3);

[[noreturn]] void cannot_start(const char* step) {
  file_error(std::string("cannot start the processes: ") + step + ": " + std::strerror(errno));
}

/// Listens at a port of this machine's own that the kernel chooses, and returns the port.
int listen_at(const Descriptor& socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (!socket.is_open() || ::bind(socket.number(), general, size) != 0 ||
      ::listen(socket.number(), SOMAXCONN) != 0 ||
      ::getsockname(socket.number(), general, &size) != 0)
    cannot_start("socket");
  return ntohs(address.sin_port);
}

/// One process, and what it prints unless it is rank 0.
struct Process {
  pid_t pid = -1;
  std::optional<Descriptor> printed;
  std::optional<int> status;  ///< once it has ended
};

class Launch {
 public:
  Launch(int count, std::string after_loss)
      : after_loss_(std::move(after_loss)),
        listener_(::socket(AF_INET, SOCK_STREAM, 0)),
        port_(listen_at(listener_)),
        memory_(::memfd_create("training", 0)),
        told_(::memfd_create("told", 0)),
        processes_(static_cast<std::size_t>(count)) {}
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() { end_all(); }

  int run() {
    if (!memory_.is_open() || !told_.is_open()) cannot_start("memfd_create");
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) start(rank);
    listener_.close();
    follow();
    end_all();
    return result();
  }

 private:
  std::vector<std::string> environment_of(std::size_t rank) const {
    std::vector<std::string> all{
        "RANK=" + std::to_string(rank),
        "LOCAL_RANK=" + std::to_string(rank),
        "WORLD_SIZE=" + std::to_string(processes_.size()),
        "MASTER_ADDR=127.0.0.1",
        "MASTER_PORT=" + std::to_string(port_),
        std::string(listener_variable) + "=" + std::to_string(listener_.number()),
        std::string(memory_variable) + "=" + std::to_string(memory_.number()),
        std::string(told_variable) + "=" + std::to_string(told_.number()),
        "TORCHELASTIC_USE_AGENT_STORE="};
    const std::size_t own = all.size();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const auto name = text.substr(0, text.find('=') + 1);
      bool replaced = false;
      for (std::size_t i = 0; i < own; ++i) replaced = replaced || all[i].starts_with(name);
      if (!replaced) all.emplace_back(text);
    }
    return all;
  }

  void start(std::size_t rank) {
    Process& process = processes_[rank];
    if (rank > 0) process.printed.emplace(::memfd_create("printed", MFD_CLOEXEC));
    std::vector<std::string> words = own_words(), environment = environment_of(rank);
    const std::vector<char*> arguments = pointers_to(words), variables = pointers_to(environment);
    process.pid = ::fork();
    if (process.pid < 0) cannot_start("fork");
    if (process.pid > 0) return;
    // Only calls that are safe in a forked process from here on.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);  // Ctrl-C comes from this program, once
    if (rank > 0) {
      const int null = ::open("/dev/null", O_RDWR);
      ::dup2(null, STDIN_FILENO);
      ::dup2(null, STDOUT_FILENO);
      ::dup2(process.printed->number(), STDERR_FILENO);
      ::close(listener_.number());
    }
    ::execve("/proc/self/exe", arguments.data(), variables.data());
    ::_exit(127);
  }

  bool are_running() const {
    for (const Process& process : processes_)
      if (!process.status) return true;
    return false;
  }

  /// Waits until all have ended, or for a while after one has failed.
  void follow() {
    std::optional<Clock::time_point> end;
    bool passed_on = false;
    while (are_running() && !(end && Clock::now() > *end)) {
      look();
      if (failed_ && !end && !passed_on) end = Clock::now() + patience;
      if (stop_asked() && !passed_on) {
        passed_on = true;
        for (const Process& process : processes_)
          if (!process.status) ::kill(process.pid, SIGINT);
      }
      std::this_thread::sleep_for(glance);
    }
  }

  /// Notes which processes have ended, and the first that failed.
  void look() {
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
      Process& process = processes_[rank];
      int status = 0;
      if (process.status || ::waitpid(process.pid, &status, WNOHANG) != process.pid) continue;
      process.status = status;
      if (status != 0 && (!failed_ || (WIFSIGNALED(status) && !by_signal(*failed_))))
        failed_ = rank;
    }
  }

  bool by_signal(std::size_t rank) const { return WIFSIGNALED(*processes_[rank].status); }

  void end_all() {
    for (Process& process : processes_) {
      if (process.pid <= 0 || process.status) continue;
      ::kill(process.pid, SIGKILL);
      int status = 0;
      while (::waitpid(process.pid, &status, 0) < 0 && errno == EINTR) continue;
      process.status = status;
    }
  }

  /// The exit code, or an error with the rank that failed.
  int result() const {
    if (!failed_) return 0;
    const std::size_t rank = reason();
    const std::string name = "rank " + std::to_string(rank);
    const int status = *processes_[rank].status;
    if (WIFSIGNALED(status))
      file_error(name + " was ended by signal " + std::to_string(WTERMSIG(status)) +
                 (WTERMSIG(status) == SIGKILL ? ", perhaps for lack of memory" : "") +
                 "; the others were stopped, and " + after_loss_);
    const int code = WEXITSTATUS(status);
    if (rank == 0) return code;
    const std::string line = said_by(rank);
    if (is_told(code, line)) return code;
    throw Error(static_cast<Fault>(code),
                name + " failed: " + (line.empty() ? "it printed nothing" : line));
  }

  /// The first rank that failed; if it has only lost another one, the one that says more.
  std::size_t reason() const {
    if (!has_lost_another(*failed_)) return *failed_;
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
      const int status = *processes_[rank].status;
      if (WIFEXITED(status) && status != 0 && !has_lost_another(rank)) return rank;
    }
    return *failed_;
  }

  bool has_lost_another(std::size_t rank) const {
    return !by_signal(rank) && said_by(rank).find(backend::lost_another) != std::string::npos;
  }

  std::string said_by(std::size_t rank) const {
    return last_line(rank == 0 ? told_ : *processes_[rank].printed);
  }

  /// Whether rank 0 has printed the error that another rank ended with: all ranks find the same
  /// faults of a configuration and of files, and notice an interrupt.
  bool is_told(int code, const std::string& line) const {
    if (code == static_cast<int>(Fault::interrupted)) return true;
    const int first = *processes_.front().status;
    if (!WIFEXITED(first) || WEXITSTATUS(first) != code) return false;
    return code == static_cast<int>(Fault::config) || line == last_line(told_);
  }

  /// The last line that was written to a file in memory.
  static std::string last_line(const Descriptor& file) {
    return last_message(read_file("/proc/self/fd/" + std::to_string(file.number()), SIZE_MAX));
  }

  std::string after_loss_;
  Descriptor listener_;
  int port_;
  Descriptor memory_;  ///< where the processes sum
  Descriptor told_;    ///< the error that rank 0 ends with
  std::vector<Process> processes_;
  std::optional<std::size_t> failed_;
};

}  // namespace

int launch_ranks(int count, const std::string& after_loss) {
  const backend::Ranks ranks = ranks_of_environment(0);
  if (ranks.several())
    config_error("this is rank " + std::to_string(ranks.rank) + " of " +
                 std::to_string(ranks.size) +
                 " processes that another launcher has started; leave --nproc out");
  leave_interrupt_message_to_others();
  return Launch(count, after_loss).run();
}

}  // namespace mase::driver
