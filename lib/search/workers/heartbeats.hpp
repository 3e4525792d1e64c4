// SPDX-License-Identifier: Apache-2.0
// Heartbeats: a thread that sends heartbeats for all running trials of a process.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace mase::search {

/// A thread that, while it exists, tells the storage which trials are being worked on.
class Heartbeats {
 public:
  /// Sends a heartbeat every `seconds` over its own connection.
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
