// SPDX-License-Identifier: Apache-2.0
// A timer whose handler ends the process, and the kernel's limit on private memory.
#include "base/limits.hpp"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase {
namespace {

bool time_is_limited = false;
double memory_limit = 0;  ///< GiB; 0: no limit

// Calls only functions that a signal handler may call.
void give_up(int) {
  static constexpr char line[] =
      "\nerror: the time limit of --max-seconds has passed; give more seconds, or check the "
      "model's code for a loop that does not end\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, sizeof line - 1);
  ::_exit(static_cast<int>(Fault::file));
}

}  // namespace

bool has_time_limit() { return time_is_limited; }

void limit_seconds(double seconds) {
  time_is_limited = true;
  std::signal(SIGALRM, give_up);
  double whole = 0;
  const double rest = std::modf(seconds, &whole);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>(rest * 1e6) + 1;  // zero would stop the timer
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void limit_memory(double gibibytes) {
  memory_limit = gibibytes;
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(gibibytes * 0x1p30));
  const int failed = ::setrlimit(RLIMIT_DATA, &limit);
  MASE_CHECK(failed == 0, "a limit below the system's own can be set");
}

void limit_memory_by_default() {
  if (memory_limit > 0) return;
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  limit_memory(bytes / 0x1p30);
}

std::optional<std::uint64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (std::uint64_t kibibytes = 0; file >> key >> kibibytes; file.ignore(80, '\n'))
    if (key == "MemAvailable:") return kibibytes << 10;
  return std::nullopt;
}

std::string out_of_memory() {
  if (memory_limit == 0) return "out of memory";
  return "out of memory: the limit is " + fixed_text(memory_limit, 1) +
         " GiB; --max-memory GIB sets another";
}

}  // namespace mase
