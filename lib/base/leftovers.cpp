// SPDX-License-Identifier: Apache-2.0
// A suffix is .tmp-PID-STARTED-HOST-BOOT-SPACE-RANDOM-COUNT: numbers, and hashes of 8 digits.
#include "base/leftovers.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/process_identity.hpp"
#include "base/text.hpp"

namespace mase {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view mark = ".tmp-";

std::string short_hash(const std::string& text) { return sha256(text).substr(0, 8); }

/// The process that a suffix names.
struct Owner {
  std::string host, boot, space;  ///< hashes
  std::int64_t pid;
  std::string started;
};

std::optional<Owner> owner_of(const std::string& name) {
  const std::size_t at = name.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::vector<std::string> parts =
      split(std::string_view(name).substr(at + mark.size()), '-');
  const auto pid = parts.size() == 7 ? parse_int(parts[0]) : std::nullopt;
  if (!pid || *pid <= 0 || !parse_int(parts[5]) || !parse_int(parts[6])) return std::nullopt;
  for (const std::size_t hash : {2, 3, 4})
    if (parts[hash].size() != 8) return std::nullopt;
  return Owner{parts[2], parts[3], parts[4], *pid, parts[1]};
}

/// True when a file or folder has not changed for a day.
bool is_old(const struct stat& info) {
  constexpr std::time_t day = 24 * 60 * 60;
  return std::time(nullptr) - info.st_mtime > day;
}

/// True when the process has died, or when its machine has been restarted since.
bool is_left(const Owner& owner, const ProcessIdentity& own, const struct stat& info) {
  if (own.space.empty()) return false;
  if (owner.space == short_hash(own.space))
    return is_dead_here({own.host, own.space, owner.pid, owner.started});
  return owner.host == short_hash(own.host) && owner.boot != short_hash(own.boot()) && is_old(info);
}

template <class Iterator>
std::vector<fs::path> leftovers_in(Iterator entries) {
  static const ProcessIdentity own = own_process();
  std::vector<fs::path> found;
  std::error_code error;
  for (; entries != Iterator(); entries.increment(error)) {
    const auto owner = owner_of(entries->path().filename().string());
    struct stat info {};
    if (owner && ::lstat(entries->path().c_str(), &info) == 0 && info.st_uid == ::geteuid() &&
        is_left(*owner, own, info))
      found.push_back(entries->path());
  }
  return found;
}

void remove_leftovers(const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) {
    std::error_code error;
    fs::remove_all(path, error);
    log::debug("removed what a process that died has left: " + path.string());
  }
}

}  // namespace

std::string temporary_suffix() {
  static std::atomic<unsigned> count{0};
  static const std::uint32_t drawn = std::random_device{}();
  static const ProcessIdentity first = own_process();
  // A child of this process that runs the same program has another number and start.
  const ProcessIdentity own = first.pid == ::getpid() ? first : own_process();
  return std::string(mark) +
         join({std::to_string(own.pid), own.started, short_hash(own.host), short_hash(own.boot()),
               short_hash(own.space), std::to_string(drawn), std::to_string(count++)},
              "-");
}

std::string temporary_name(const std::string& path) {
  const fs::path full(path);
  const std::string suffix = temporary_suffix();
  const std::string name = full.filename().string().substr(0, NAME_MAX - 1 - suffix.size());
  return (full.parent_path() / ("." + name + suffix)).string();
}

std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  const std::string folder = named && *named != '\0' ? named : "/tmp";
  struct stat info {};
  const int failed = ::stat(folder.c_str(), &info) != 0 ? errno : 0;
  if (failed || !S_ISDIR(info.st_mode))
    file_error("cannot use '" + folder + "' for temporary files: " +
               std::strerror(failed ? failed : ENOTDIR) + "; name another folder by TMPDIR");
  return folder;
}

void sweep_leftovers(const std::string& folder) {
  std::error_code error;
  remove_leftovers(leftovers_in(fs::directory_iterator(folder, error)));
}

void sweep_leftovers_below(const std::string& folder) {
  std::error_code error;
  remove_leftovers(leftovers_in(fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, error)));
}

}  // namespace mase
