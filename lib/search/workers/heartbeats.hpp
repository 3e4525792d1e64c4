// SPDX-License-Identifier: Apache-2.0
// Heartbeats: one thread that says for all running trials of a process that they are alive.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace mase::search {

/// A thread that tells the storage, while it lives, that trials are being worked on.
class Heartbeats {
 public:
  /// Beats every `seconds` over a connection of its own.
  Heartbeats(std::string url, double seconds);
  ~Heartbeats();
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;

  void add(std::int64_t trial);
  void remove(std::int64_t trial);

 private:
  void run();

  std::string url_;
  double seconds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::set<std::int64_t> trials_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace mase::search
