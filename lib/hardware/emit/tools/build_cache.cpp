// SPDX-License-Identifier: Apache-2.0
// Entries are folders with a file `lock`: who uses one, or fills it, holds a shared lock of that
// file, and who removes one needs the exclusive one. The file's time is that of the last use.
#include "hardware/emit/tools/build_cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/cache_folder.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/run_folder.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;
using Lock = std::shared_ptr<const int>;

constexpr const char* lock_name = "/lock";
/// How names of folders begin that become entries, or were: those of entries begin without a dot.
constexpr const char* unfinished_prefix = ".part-";
/// For so long a folder without a lock may be one whose maker is about to lock it.
constexpr std::time_t grace_seconds = 60;

Lock open_lock(const std::string& folder, int flags, int kind) {
  const int file = ::open((folder + lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags,
                          S_IRUSR | S_IWUSR);
  if (file < 0) return nullptr;
  Lock lock(new int(file), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  return ::flock(file, kind) == 0 ? lock : nullptr;
}

/// Whether the entry still has the file that was locked: it may have been removed in between.
bool is_still_there(const std::string& folder, const Lock& lock) {
  struct stat locked {
  }, there{};
  return ::fstat(*lock, &locked) == 0 && ::stat((folder + lock_name).c_str(), &there) == 0 &&
         locked.st_ino == there.st_ino && locked.st_dev == there.st_dev;
}

std::optional<KeptBuild> found(const std::string& folder) {
  const Lock lock = open_lock(folder, 0, LOCK_SH);
  if (!lock || !is_still_there(folder, lock)) return std::nullopt;
  ::futimens(*lock, nullptr);
  return KeptBuild{folder, false, lock};
}

/// False when somebody uses it.
bool remove_entry(const fs::path& path) {
  std::error_code error;
  const Lock lock = open_lock(path.string(), O_CREAT, LOCK_EX | LOCK_NB);
  if (!lock) return false;
  const fs::path aside = path.parent_path() / (unfinished_prefix + unique_suffix());
  fs::rename(path, aside, error);
  if (!error) fs::remove_all(aside, error);
  return !error;
}

/// A folder that is being filled, removed unless it has become an entry.
class Unfinished {
 public:
  explicit Unfinished(const std::string& parent)
      : path_(parent + "/" + unfinished_prefix + unique_suffix()) {
    if (::mkdir(path_.c_str(), S_IRWXU) != 0) fail(errno);
    lock_ = open_lock(path_, O_CREAT | O_EXCL, LOCK_SH);
    if (!lock_) fail(errno);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

  /// If another process was first, its entry is as good. Anything else at that place is removed.
  KeptBuild become(const std::string& entry) {
    if (::rename(path_.c_str(), entry.c_str()) == 0) return {entry, true, lock_};
    if (auto other = found(entry)) return *other;
    remove_entry(entry);
    if (::rename(path_.c_str(), entry.c_str()) != 0) fail(errno);
    return {entry, true, lock_};
  }

 private:
  [[noreturn]] void fail(int code) const {
    file_error("cannot keep a build in '" + path_ + "': " + std::strerror(code));
  }

  std::string path_;
  Lock lock_;
};

struct Entry {
  fs::path path;
  std::time_t used = 0;
  std::uintmax_t bytes = 0;
  bool unfinished = false;
};

std::uintmax_t size_of(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; file != end && !error;
       file.increment(error)) {
    std::error_code gone;
    const std::uintmax_t size = file->is_regular_file(gone) ? file->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

std::vector<Entry> entries_of(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(folder, error)) {
    struct stat info {};
    const std::string lock = item.path().string() + lock_name;
    if (::stat(lock.c_str(), &info) != 0 && ::stat(item.path().c_str(), &info) != 0) continue;
    entries.push_back({item.path(), info.st_mtime, size_of(item.path()),
                       item.path().filename().string().starts_with(unfinished_prefix)});
  }
  std::ranges::sort(entries, {}, &Entry::used);
  return entries;
}

/// The folder of this process, for users without a folder of their own.
std::string process_folder() {
  static const RunFolder folder;
  return folder.make("builds");
}

}  // namespace

BuildCache BuildCache::of_user() {
  const CacheFolder cache = cache_folder();
  if (!cache.path.empty()) {
    const std::string folder = cache.path + "/builds";
    if (::mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST)
      if (unsafe_folder(folder).empty()) return BuildCache(folder);
  }
  static const bool said = [&] {
    if (!cache.problem.empty())
      log::warning("builds of the simulation are not kept for the next run: " + cache.problem +
                   "; name another folder in XDG_CACHE_HOME");
    return true;
  }();
  static_cast<void>(said);
  return BuildCache(process_folder());
}

KeptBuild BuildCache::get(const std::string& name,
                          const std::function<void(const std::string& folder)>& build) const {
  const std::string entry = folder_ + "/" + name;
  if (auto kept = found(entry)) return *kept;
  Unfinished unfinished(folder_);
  build(unfinished.path());
  KeptBuild kept = unfinished.become(entry);
  remove_oldest();
  return kept;
}

void BuildCache::remove_oldest() const {
  const std::vector<Entry> entries = entries_of(folder_);
  std::uintmax_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  const std::time_t now = std::time(nullptr);
  for (const Entry& entry : entries) {
    const bool leftover = entry.unfinished && entry.used + grace_seconds < now;
    if (!leftover && (entry.unfinished || bytes <= limit_)) continue;
    if (remove_entry(entry.path)) bytes -= entry.bytes;
  }
}

}  // namespace mase::emit
