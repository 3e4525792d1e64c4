// SPDX-License-Identifier: Apache-2.0
// A gate of two counters in the first page, and what is shared behind it.
#include "torch/train/shared_memory.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <stdexcept>
#include <string>

namespace mase::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t page = 4096;
/// Time to wait without giving the processor away. Processes that are equally fast come within it.
constexpr auto eager = std::chrono::microseconds(50);
constexpr timespec glance{0, 100'000'000};

void rest() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

/// How many processes have come to the gate, and how often it has opened.
struct SharedMemory::Gate {
  std::atomic<unsigned> come;
  std::atomic<unsigned> generation;
  static_assert(std::atomic<unsigned>::is_always_lock_free);
};

SharedMemory::SharedMemory(const backend::Ranks& ranks) : ranks_(ranks), file_(*ranks.memory) {
  ::fcntl(file_.number(), F_SETFD, FD_CLOEXEC);
  map(page);
}

SharedMemory::~SharedMemory() { ::munmap(mapped_, mapped_size_); }

SharedMemory::Gate& SharedMemory::gate() const { return *reinterpret_cast<Gate*>(mapped_); }

/// All processes map the same size, and the first to come makes room.
void SharedMemory::map(std::size_t size) {
  const bool has_room = ::posix_fallocate(file_.number(), 0, static_cast<off_t>(size)) == 0;
  void* const mapped =
      has_room ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0)
               : MAP_FAILED;
  if (mapped == MAP_FAILED)
    throw std::runtime_error("no memory for " + std::to_string(size >> 10) + " KiB to share");
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
  mapped_ = static_cast<std::byte*>(mapped);
  mapped_size_ = size;
}

std::byte* SharedMemory::bytes(std::size_t bytes) {
  const std::size_t wanted = page + (bytes + page - 1) / page * page;
  if (wanted > mapped_size_) {
    meet();  // nobody uses the old bytes any more
    map(wanted);
  }
  return mapped_ + page;
}

void SharedMemory::meet() {
  const unsigned generation = gate().generation.load(std::memory_order_acquire);
  const unsigned come = gate().come.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (come < static_cast<unsigned>(ranks_.size)) return wait_for_next(generation);
  gate().come.store(0, std::memory_order_relaxed);
  gate().generation.store(generation + 1, std::memory_order_release);
  ::syscall(SYS_futex, &gate().generation, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SharedMemory::wait_for_next(unsigned generation) {
  const auto is_open = [&] {
    return gate().generation.load(std::memory_order_acquire) != generation;
  };
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < eager) {
    if (is_open()) return;
    rest();
  }
  const auto end = begin + std::chrono::duration<double>(ranks_.timeout);
  while (!is_open()) {
    if (Clock::now() > end) throw std::runtime_error("it did not come to the gate");
    ::syscall(SYS_futex, &gate().generation, FUTEX_WAIT, generation, &glance, nullptr, 0);
  }
}

}  // namespace mase::train
