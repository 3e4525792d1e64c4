// SPDX-License-Identifier: Apache-2.0
// Process identity from /proc; a process number alone could have been given to another process.
#include "search/workers/worker_identity.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace mase::search {
namespace {

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Start time of a process in clock ticks since boot (field 22 of /proc/PID/stat, proc(5)); "" when
/// there is no such process. The command in field 2 may hold blanks, so fields are counted behind
/// it.
std::string start_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto command_end = text.rfind(')');
  if (command_end == std::string::npos) return "";
  std::istringstream fields(text.substr(command_end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return field;
}

/// The running kernel and the process numbers that it shows here: containers of one host name, and
/// machines cloned from one image, differ in it. "" where the kernel does not say.
std::string process_space() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::error_code error;
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  return boot.empty() || space.empty() ? "" : boot + " " + space;
}

}  // namespace

Tree own_identity() {
  Tree identity = Tree::dict();
  identity["host"] = host();
  identity["space"] = process_space();
  identity["pid"] = static_cast<std::int64_t>(getpid());
  identity["started"] = start_of(getpid());
  return identity;
}

bool is_dead_here(const Tree& identity) {
  const Tree *space = identity.find("space"), *pid = identity.find("pid"),
             *started = identity.find("started");
  if (!space || !pid || !started || !pid->is_int()) return false;
  const std::string here = process_space();
  return !here.empty() && *space == Tree(here) && Tree(start_of(pid->as_int())) != *started;
}

}  // namespace mase::search
