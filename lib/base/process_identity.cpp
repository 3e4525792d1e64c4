// SPDX-License-Identifier: Apache-2.0
// Process identity from /proc (proc(5)).
#include "base/process_identity.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace mase {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Field 22 of /proc/PID/stat; "" for a process of which only the exit code is left, nullopt for a
/// process that does not exist or is not shown. The command in field 2 may have blanks, so fields
/// are counted after it.
std::optional<std::string> start_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto command_end = text.rfind(')');
  if (command_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(command_end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) {
    fields >> field;
    if (number == 3 && (field == "Z" || field == "X")) return "";
  }
  return field;
}

std::string process_space() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::error_code error;
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  return boot.empty() || space.empty() ? "" : boot + " " + space;
}

/// True also for processes of other users, which /proc may hide.
bool exists(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }

}  // namespace

ProcessIdentity own_process() {
  return {host_name(), process_space(), ::getpid(), start_of(::getpid()).value_or("")};
}

bool is_dead_here(const ProcessIdentity& process) {
  const std::string here = process_space();
  if (here.empty() || process.space != here || process.pid <= 0) return false;
  const auto start = start_of(process.pid);
  return start ? *start != process.started : !exists(process.pid);
}

}  // namespace mase
