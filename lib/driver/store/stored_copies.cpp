// SPDX-License-Identifier: Apache-2.0
// A copy lies in a folder named by the hash of its point.json. The newest time of its files, and of
// the folder itself, is that of the last use.
#include "driver/store/stored_copies.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/cache_folder.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* limit_variable = "MASE_STORE_CACHE";
constexpr double bytes_in_gb = 1e9, usual_gb = 20;
constexpr std::chrono::hours in_use{1};

struct CopyFolder {
  fs::path path;
  fs::file_time_type used;
  double bytes = 0;
};

/// Other processes may remove what is looked at.
CopyFolder copy_folder(const fs::path& path) {
  std::error_code gone;
  CopyFolder folder{path, fs::last_write_time(path, gone)};
  for (fs::directory_iterator file(path, gone), end; !gone && file != end; file.increment(gone)) {
    std::error_code missing;
    folder.used = std::max(folder.used, file->last_write_time(missing));
    const std::uintmax_t bytes = file->file_size(missing);
    if (!missing) folder.bytes += static_cast<double>(bytes);
  }
  return folder;
}

/// All folders, from the one that was not used for longest.
std::vector<CopyFolder> copy_folders(const fs::path& cache) {
  std::vector<CopyFolder> folders;
  std::error_code gone;
  for (fs::directory_iterator item(cache, gone), end; !gone && item != end; item.increment(gone))
    folders.push_back(copy_folder(item->path()));
  std::ranges::sort(folders, {}, &CopyFolder::used);
  return folders;
}

}  // namespace

double stored_copies_limit() {
  const char* given = std::getenv(limit_variable);
  if (!given || !*given) return usual_gb * bytes_in_gb;
  const auto gb = parse_double(given);
  if (!gb || !(*gb >= 0))
    config_error(std::string(limit_variable) + " is '" + given +
                 "', but must be the GB that copies from stores may take, such as 20");
  return *gb * bytes_in_gb;
}

std::string stored_copy_folder(const std::string& address, const std::string& about) {
  const CacheFolder cache = cache_folder();
  if (cache.path.empty())
    file_error("cannot keep " + address + ": " +
               (cache.problem.empty() ? "there is no home folder" : cache.problem) +
               "; name another folder in XDG_CACHE_HOME");
  return cache.path + "/store/" + sha256(about);
}

void use_stored_copy(const std::string& path, double limit) {
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  fs::last_write_time(path, now, error);
  const std::vector<CopyFolder> folders = copy_folders(fs::path(path).parent_path().parent_path());
  double bytes = 0;
  for (const CopyFolder& folder : folders) bytes += folder.bytes;
  for (const CopyFolder& folder : folders) {
    if (bytes <= limit || folder.used > now - in_use) break;
    log::debug("removing the copy " + folder.path.string());
    fs::remove_all(folder.path, error);
    bytes -= folder.bytes;
  }
}

}  // namespace mase::driver
