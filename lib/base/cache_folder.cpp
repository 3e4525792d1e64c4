// SPDX-License-Identifier: Apache-2.0
// Checks owner and permissions of a folder and of all folders above it.
#include "base/cache_folder.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace mase {
namespace {

namespace fs = std::filesystem;

/// Relative values are not valid: https://specifications.freedesktop.org/basedir-spec.
fs::path absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  const fs::path path = value ? value : "";
  return path.is_absolute() ? path : fs::path();
}

fs::path parent_of_cache() {
  const fs::path chosen = absolute_variable("XDG_CACHE_HOME"), home = absolute_variable("HOME");
  if (!chosen.empty() || home.empty()) return chosen;
  return home / ".cache";
}

/// Many systems give every user a group with the same name and no other members.
bool is_own_group(gid_t id) {
  const passwd* user = ::getpwuid(::geteuid());
  const std::string name = user ? user->pw_name : "";
  const group* found = ::getgrgid(id);
  if (id == 0 || !found || name.empty() || name != found->gr_name) return false;
  for (char** member = found->gr_mem; *member; ++member)
    if (name != *member) return false;
  return true;
}

bool others_write(const struct stat& info) {
  return (info.st_mode & S_IWOTH) != 0 ||
         ((info.st_mode & S_IWGRP) != 0 && !is_own_group(info.st_gid));
}

/// Why one folder is not safe, or empty; with `last`, others must not be able to add files either.
std::string unsafe(const fs::path& path, bool last) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return "cannot be read";
  if (!S_ISDIR(info.st_mode)) return "is not a folder";
  if (info.st_uid != ::geteuid() && (last || info.st_uid != 0)) return "belongs to another user";
  const bool kept = !last && (info.st_mode & S_ISVTX) != 0;
  if (!kept && others_write(info)) return "can be written by others (chmod go-w)";
  return "";
}

CacheFolder refused(const fs::path& path, const std::string& why) {
  return {"", path.string() + " " + why};
}

}  // namespace

std::string unsafe_folder(const std::string& path) {
  fs::path folder = path;
  for (bool last = true;; last = false) {
    if (const std::string why = unsafe(folder, last); !why.empty())
      return folder.string() + " " + why;
    if (folder == folder.root_path()) return "";
    folder = folder.parent_path();
  }
}

CacheFolder cache_folder() {
  const fs::path parent = parent_of_cache();
  if (parent.empty()) return {};
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return refused(parent, "cannot be made: " + error.message());
  const fs::path folder = parent / "mase";
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return refused(folder, std::string("cannot be made: ") + std::strerror(errno));
  const fs::path real = fs::canonical(folder, error);
  if (error) return refused(folder, "cannot be read: " + error.message());
  const std::string why = unsafe_folder(real.string());
  if (!why.empty()) return {"", why};
  if (::access(real.c_str(), W_OK | X_OK) != 0) return refused(real, "cannot be written");
  return {real.string(), ""};
}

}  // namespace mase
