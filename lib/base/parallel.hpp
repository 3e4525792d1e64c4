// SPDX-License-Identifier: Apache-2.0
// A loop whose turns are shared out among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mase {

/// Calls work(i) for all i below `count` from so many threads, each with a work = make_work() of
/// its own, and throws the error of the least i that has one.
template <class MakeWork>
void for_each_index(std::size_t count, int threads, MakeWork make_work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t error_at = count;
  const auto run = [&] {
    auto work = make_work();
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = count;
        if (i < error_at) error = std::current_exception();
        error_at = std::min(error_at, i);
      }
    }
  };
  std::vector<std::thread> others;
  const auto most = static_cast<int>(std::min<std::size_t>(count, 4096));
  for (int i = 1; i < std::min(threads, most); ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace mase
