// SPDX-License-Identifier: Apache-2.0
// Collects the rights of a command. Like the limits, they are global state of the process.
#include "sandbox/policy.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/cache_folder.hpp"
#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/library.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "sandbox/door.hpp"

namespace mase::sandbox {
namespace {

namespace fs = std::filesystem;

struct Policy {
  Mode mode = Mode::off;
  Rights rights;
  std::vector<std::string> folders;  ///< created on entry
  std::vector<std::string> outputs;
  std::vector<std::string> (*companions)(const std::string& path) = nullptr;
  bool entered = false;
};

Policy& policy() {
  static Policy state;
  return state;
}

bool is_there(const std::string& path) {
  struct stat info {};
  return !path.empty() && ::stat(path.c_str(), &info) == 0;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The folder of the shipped files. It is empty if they are missing; an error says so when needed.
std::string shared_files() {
  try {
    return share_folder();
  } catch (const Error&) {
    return "";
  }
}

/// Adds what every process reads: libraries, the shipped files, and what the C library and LibTorch
/// read about the machine.
void add_system(Rights& rights) {
  for (const char* path :
       {"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/ld.so.preload",
        "/etc/localtime", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
        "/proc/sys/vm", "/proc/sys/kernel", "/sys/devices/system", "/sys/fs/cgroup"})
    rights.read.emplace_back(path);
  for (const char* device : {"/dev/zero", "/dev/urandom", "/dev/random"})
    rights.read.emplace_back(device);
  for (const char* device : {"/dev/null", "/dev/full"}) rights.write.emplace_back(device);
  for (const std::string& folder : split(variable("LD_LIBRARY_PATH"), ':'))
    if (!folder.empty()) rights.read.push_back(folder);
  for (const std::string& folder : {program_folder(), library_folder(), shared_files()})
    if (!folder.empty()) rights.read.push_back(folder);
}

void add_companions(Policy& state) {
  if (state.companions == nullptr) return;
  std::vector<std::string>& read = state.rights.read;
  const std::vector<std::string> named = read;
  for (const std::string& path : named)
    for (std::string& companion : state.companions(path)) read.push_back(std::move(companion));
}

/// Creates a folder with its parents. Returns those that were missing, innermost first.
std::vector<std::string> make_missing(const std::string& folder) {
  std::vector<std::string> made;
  for (fs::path path = fs::absolute(folder).lexically_normal();
       !path.empty() && !is_there(path.string()); path = path.parent_path())
    made.push_back(path.string());
  make_folder(folder);
  return made;
}

void check_support() {
  const Support found = support();
  if (found.full()) return;
  if (chosen() == Mode::require)
    file_error("--sandbox require: this kernel has " + found.text() + "; see `mase doctor`");
  log::warning("the sandbox is incomplete (" + found.text() +
               "); run untrusted models in a container or another account");
}

}  // namespace

Mode parse_mode(std::string_view text) {
  if (text == "auto") return Mode::automatic;
  if (text == "require") return Mode::require;
  if (text == "off") return Mode::off;
  config_error("unknown sandbox '" + std::string(text) + "'; allowed: auto | require | off");
}

void choose(Mode mode) { policy().mode = mode; }
Mode chosen() { return policy().mode; }

void may_read(const std::string& path) { policy().rights.read.push_back(path); }

void may_read_argument(const std::string& word) {
  if (is_there(word)) may_read(word);
  const auto equals = word.find('=');
  if (equals != std::string::npos && is_there(word.substr(equals + 1)))
    may_read(word.substr(equals + 1));
}

void may_read_named(const Tree& settings) {
  if (settings.is_string() && is_there(settings.as_string())) may_read(settings.as_string());
  if (settings.is_list())
    for (const Tree& item : settings.as_list()) may_read_named(item);
  if (settings.is_dict())
    for (const auto& [key, value] : settings.as_dict()) may_read_named(value);
}

void find_companions_by(std::vector<std::string> (*companions)(const std::string& path)) {
  policy().companions = companions;
}

void may_write(const std::string& folder) { policy().folders.push_back(folder); }

void may_run_programs() {
  Rights& rights = policy().rights;
  rights.read.emplace_back("/");
  for (const char* folder : {"/usr", "/bin", "/lib", "/lib64", "/opt"})
    rights.execute.emplace_back(folder);
  for (const std::string& folder : split(variable("PATH"), ':'))
    if (!folder.empty()) rights.execute.push_back(folder);
  std::error_code error;
  const std::string temporary = fs::temp_directory_path(error).string();
  const std::string home = variable("HOME");
  for (const std::string& folder :
       {temporary, cache_folder().path}) {  // simulators are built there
    rights.write.push_back(folder);
    rights.execute.push_back(folder);
  }
  for (const std::string& cache : {home + "/.cache", home + "/.ccache", variable("CCACHE_DIR")})
    rights.write.push_back(cache);  // for compilers and programs installed by pip
}

void may_run_any_program() {
  may_run_programs();
  policy().rights.execute.emplace_back("/");
}

void may_run_program(const std::string& name) {
  Rights& rights = policy().rights;
  for (const std::string& folder : split(variable("PATH"), ':'))
    rights.execute.push_back(folder + "/" + name);
  for (const char* loader : {"/lib", "/lib64", "/usr/lib", "/usr/lib64"})
    rights.execute.emplace_back(loader);
  rights.read.emplace_back("/etc");
}

void may_meet_processes() {
  policy().rights.network = true;
  // Names of machines are looked up, and gloo reads how fast the network's card is.
  for (const char* path : {"/etc", "/run", "/var/run", "/sys/bus", "/sys/class", "/sys/devices"})
    may_read(path);
}

void may_use_accelerators() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") || name == "kfd" || name == "dri" || name == "dxg" ||
        name == "accel")
      policy().rights.devices.push_back(entry.path().string());
  }
  // What drivers read of the machine, and where they keep their libraries.
  for (const char* path :
       {"/proc/driver", "/proc/devices", "/proc/modules", "/sys/bus", "/sys/class", "/sys/dev",
        "/sys/devices", "/sys/module", "/etc/OpenCL", "/opt"})
    may_read(path);
}

void may_connect() {
  policy().rights.network = true;
  for (const char* path : {"/etc", "/run", "/var/run", "/proc"}) may_read(path);
  for (const char* file : {"/.pgpass", "/.pg_service.conf", "/.postgresql"})
    may_read(variable("HOME") + file);
}

void will_output(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool special = fs::exists(status) && !fs::is_regular_file(status);
  if (special)
    policy().rights.write.push_back(path);  // a pipe, a terminal, /dev/null
  else
    policy().outputs.push_back(path);
}

void enter() {
  Policy& state = policy();
  if (state.mode == Mode::off || state.entered) return;
  state.entered = true;
  check_support();
  std::vector<std::string> made;
  for (const std::string& folder : state.folders)
    for (std::string& missing : make_missing(folder)) made.push_back(std::move(missing));
  open_door(state.outputs, made);
  add_companions(state);
  Rights& rights = state.rights;
  add_system(rights);
  for (const std::string& folder : state.folders) rights.write.push_back(folder);
  limit_memory_by_default();
  report_crashes();
  keep_only(rights);
}

void keep_reading_only() {
  if (!policy().entered) return;
  Rights rights = policy().rights;
  rights.write = {"/dev/null"};
  rights.read.insert(rights.read.end(), policy().folders.begin(), policy().folders.end());
  rights.execute.clear();
  rights.devices.clear();
  rights.network = false;
  keep_only(rights);
}

}  // namespace mase::sandbox
