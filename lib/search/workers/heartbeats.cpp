// SPDX-License-Identifier: Apache-2.0
// The thread of Heartbeats. A heartbeat that fails is simply repeated at the next one: the trial
// continues, and only a worker that is silent for long counts as dead.
#include "search/workers/heartbeats.hpp"

#include <chrono>

#include "base/error.hpp"
#include "base/log.hpp"
#include "search/storage/storage.hpp"

namespace mase::search {

Heartbeats::Heartbeats(std::string url, double seconds)
    : url_(std::move(url)), seconds_(seconds), thread_([this] { run(); }) {}

Heartbeats::~Heartbeats() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Heartbeats::add(std::int64_t trial) {
  const std::lock_guard lock(mutex_);
  trials_.insert(trial);
}

void Heartbeats::remove(std::int64_t trial) {
  const std::lock_guard lock(mutex_);
  trials_.erase(trial);
}

void Heartbeats::run() {
  std::unique_ptr<storage::Storage> storage;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::duration<double>(seconds_), [&] { return stop_; })) {
    const std::set<std::int64_t> trials = trials_;
    lock.unlock();
    try {
      if (!storage) storage = storage::open_storage(url_, seconds_);
      for (const std::int64_t trial : trials) storage->heartbeat(trial);
    } catch (const Error& error) {
      log::warning(std::string("heartbeat: ") + error.what());
      storage.reset();
    }
    lock.lock();
  }
}

}  // namespace mase::search
