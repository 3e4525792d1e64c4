// SPDX-License-Identifier: Apache-2.0
// Follows links by hand, because a link to nothing counts too: a write would follow it.
#include "base/writing_inside.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <vector>

#include "base/error.hpp"

namespace mase {
namespace fs = std::filesystem;
namespace {

constexpr int most_links = 40;  // as in Linux, path_resolution(7)

[[noreturn]] void cannot_write(const std::string& path, int code) {
  file_error("cannot write '" + path + "': " + std::strerror(code));
}

fs::path absolute_of(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) cannot_write(path, error.value());
  return absolute.lexically_normal();
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// Finds the path to which the kernel would come, whether or not anything is there.
class LinkFollower {
 public:
  explicit LinkFollower(const fs::path& path) : shown_(path.string()) {
    push(path);
    while (!left_.empty()) {
      const fs::path part = left_.front();
      left_.pop_front();
      step(part);
    }
  }
  const fs::path& place() const { return place_; }

 private:
  void push(const fs::path& path) { left_.insert(left_.begin(), path.begin(), path.end()); }

  void step(const fs::path& part) {
    if (part.empty() || part == ".") return;
    if (part == "..") {
      place_ = place_.parent_path();
      return;
    }
    const fs::path next = place_ / part;
    struct stat info {};
    if (::lstat(next.c_str(), &info) != 0) {
      if (errno != ENOENT) cannot_write(shown_, errno);
    } else if (S_ISLNK(info.st_mode)) {
      return follow(next);
    }
    place_ = next;
  }

  void follow(const fs::path& link) {
    if (++links_ > most_links) cannot_write(shown_, ELOOP);
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    if (error) cannot_write(shown_, error.value());
    push(target);
    if (target.is_absolute()) place_ = "/";
  }

  std::string shown_;
  fs::path place_ = "/";
  std::deque<fs::path> left_;
  int links_ = 0;
};

class Folders {
 public:
  void add(const fs::path& folder) {
    const std::lock_guard lock(mutex_);
    folders_.push_back(folder);
  }
  /// The innermost of the given folders that is above a path; "" when none of them is.
  fs::path above(const fs::path& path) const {
    const std::lock_guard lock(mutex_);
    fs::path found;
    for (const fs::path& folder : folders_)
      if (is_below(path, folder) && (found.empty() || is_below(folder, found))) found = folder;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<fs::path> folders_;
};

Folders& folders() {
  static Folders all;
  return all;
}

}  // namespace

void keep_writes_inside(const std::string& folder) {
  fs::path path = absolute_of(folder);
  if (!path.has_filename()) path = path.parent_path();  // "project/"
  folders().add(path);
  folders().add(LinkFollower(path).place());  // its path without links
}

std::string place_to_write(const std::string& path) {
  const fs::path absolute = absolute_of(path);
  const fs::path folder = folders().above(absolute);
  if (folder.empty()) return path;
  const fs::path place = LinkFollower(absolute).place();
  const fs::path inside = LinkFollower(folder).place();
  if (!is_below(place, inside))
    file_error("cannot write '" + path + "': a link leads out of '" + folder.string() + "' to '" +
               place.string() + "'; remove the link, or name another project");
  struct stat info {};
  if (::lstat(place.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    file_error("cannot write '" + path + "': what is there is not a file");
  return place.string();
}

}  // namespace mase
