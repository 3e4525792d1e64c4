// SPDX-License-Identifier: Apache-2.0
// A lock on a folder, so that one process at a time writes into it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mase {

/// Holds `FOLDER/.mase.lock`, which names process, host and command, until it is destroyed. The
/// system releases the lock (flock) however its process ends. Some file systems do not share it
/// with other hosts, so the holder also touches the file every few seconds: a file that another
/// host has touched within a minute counts as locked.
class FolderLock {
 public:
  /// Makes the folder. Error(Fault::file) names process and host when another process holds it.
  FolderLock(const std::string& folder, const std::string& command);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  void acquire(const std::string& folder);
  void refuse_live_elsewhere() const;
  void sign(const std::string& command) const;
  void keep_fresh();
  void release();
  void remove_made();

  std::string path_;
  std::vector<std::string> made_;  ///< folders that this lock made, the outermost first
  int file_ = -1;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread heart_;
};

}  // namespace mase
