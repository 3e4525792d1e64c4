// SPDX-License-Identifier: Apache-2.0
// Only its holder removes the lock file, at the end, after a check that the file is still at its
// path: so a finished project has no lock file, and two processes never lock two files of one name.
#include "base/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/leftovers.hpp"
#include "base/log.hpp"
#include "base/process_identity.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "base/writing_inside.hpp"

namespace mase {
namespace fs = std::filesystem;
namespace {

using std::chrono::seconds;
constexpr seconds beat{10}, held_for{60};
/// The child of a killed process holds its locks for a moment longer.
constexpr seconds longest_end{10};
constexpr std::chrono::milliseconds look_again{10};

[[noreturn]] void cannot_lock(const std::string& path, int code) {
  file_error("cannot lock '" + path + "': " + std::strerror(code));
}

/// The content of a lock file; an empty dict when it is damaged or not yet written.
Tree signature_in(int file) {
  std::string text(4096, '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  try {
    Tree tree = parse_json(text, "lock");
    if (tree.is_dict()) return tree;
  } catch (const Error&) {  // somebody else's file
  }
  return Tree::dict();
}

ProcessIdentity process_of(const Tree& signature) {
  const Tree *space = signature.find("space"), *pid = signature.find("pid"),
             *started = signature.find("started");
  if (!space || !space->is_string() || !pid || !pid->is_int() || !started || !started->is_string())
    return {};
  return {"", space->as_string(), pid->as_int(), started->as_string()};
}

/// A word of a lock file, safe to print on a terminal.
std::string word_of(const Tree& signature, const char* key) {
  const Tree* value = signature.find(key);
  if (!value) return "?";
  const std::string text = to_json(*value, -1);
  return value->is_string() ? text.substr(1, text.size() - 2) : text;
}

[[noreturn]] void refuse(const std::string& path, const Tree& holder) {
  const std::string folder = fs::path(path).parent_path().string();
  const std::string who = holder.size() == 0 ? "another process"
                                             : "process " + word_of(holder, "pid") + " on host " +
                                                   word_of(holder, "host") + " (" +
                                                   word_of(holder, "command") + ")";
  file_error("'" + folder + "' is in use by " + who +
             "; wait until it has ended, or name another project with --project");
}

bool stands_at(int file, const std::string& path) {
  struct stat own {
  }, there{};
  return ::fstat(file, &own) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

timespec changed_at(int file) {
  struct stat info {};
  ::fstat(file, &info);
  return info.st_mtim;
}

/// The time now, by the clock of the system that keeps the folder: the time of a new file beside
/// `path`. (The sandbox refuses to set the time of an existing file.)
timespec now_beside(const std::string& path) {
  const std::string name = temporary_name(path);
  const Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) cannot_lock(path, errno);
  ::unlink(name.c_str());
  return changed_at(file.number());
}

/// Writes the present content again, which updates the file's time of change.
void freshen(int file) {
  char first = 0;
  if (::pread(file, &first, 1, 0) != 1) return;
  [[maybe_unused]] const auto written = ::pwrite(file, &first, 1, 0);
}

/// The missing folders among `path` and those above it, the outermost first.
std::vector<std::string> missing_folders(const fs::path& path) {
  std::vector<std::string> missing;
  for (fs::path at = path; !at.empty() && !file_exists(at.string()); at = at.parent_path())
    missing.insert(missing.begin(), at.string());
  return missing;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& command)
    : path_(folder + "/.mase.lock"), made_(missing_folders(folder)) {
  acquire(folder);
  if (file_ < 0) return;
  try {
    refuse_live_elsewhere();
    sign(command);
  } catch (...) {
    ::close(file_);
    remove_made();
    throw;
  }
  try {
    heart_ = std::thread([this] { keep_fresh(); });
  } catch (const std::system_error&) {  // without a thread, the system's lock is enough here
  }
}

FolderLock::~FolderLock() { release(); }

/// Takes the lock; leaves file_ at -1 when the file system has no locks.
void FolderLock::acquire(const std::string& folder) {
  using clock = std::chrono::steady_clock;
  const auto last_try = clock::now() + longest_end;
  while (true) {
    make_folder(folder);
    path_ = place_to_write(path_);
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0 && errno == ENOENT) continue;  // its holder ended and removed the folder
    if (file_ < 0) cannot_lock(path_, errno);
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
      if (stands_at(file_, path_)) return;
      ::close(file_);
      continue;
    }
    const int code = errno;
    const Tree holder = signature_in(file_);
    ::close(std::exchange(file_, -1));
    if (code == EINTR) continue;
    if (code == EWOULDBLOCK && is_dead_here(process_of(holder)) && clock::now() < last_try) {
      std::this_thread::sleep_for(look_again);
      continue;
    }
    if (code == EWOULDBLOCK) refuse(path_, holder);
    log::warning("cannot lock '" + path_ + "' (" + std::strerror(code) +
                 "); do not run two commands at once that write into its folder");
    return;
  }
}

/// A free lock does not rule out another host when the file system does not share locks.
void FolderLock::refuse_live_elsewhere() const {
  const Tree holder = signature_in(file_);
  const std::string boot = process_of(holder).boot();
  if (boot.empty() || boot == own_process().boot()) return;
  const timespec before = changed_at(file_), now = now_beside(path_);
  if (now.tv_sec < before.tv_sec || seconds(now.tv_sec - before.tv_sec) >= held_for) return;
  refuse(path_, holder);
}

void FolderLock::sign(const std::string& command) const {
  const ProcessIdentity own = own_process();
  Tree signature = Tree::dict();
  signature["command"] = command;
  signature["pid"] = own.pid;
  signature["host"] = own.host;
  signature["space"] = own.space;
  signature["started"] = own.started;
  const std::string text = to_json(signature) + "\n";
  errno = ENOSPC;  // the error when a write is cut short
  if (::ftruncate(file_, 0) == 0 &&
      ::pwrite(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
    return;
  const int code = errno;
  ::unlink(path_.c_str());
  cannot_lock(path_, code);
}

void FolderLock::keep_fresh() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, beat, [this] { return done_; })) freshen(file_);
}

void FolderLock::release() {
  if (file_ < 0) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  if (heart_.joinable()) heart_.join();
  if (stands_at(file_, path_)) ::unlink(path_.c_str());
  ::close(file_);
  remove_made();
}

/// Removes the folders that this lock made, as far as they are empty.
void FolderLock::remove_made() {
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().c_str());
}

}  // namespace mase
