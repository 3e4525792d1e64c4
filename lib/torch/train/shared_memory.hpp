// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of a training on one machine share, and the gate where they wait for
// each other.
#pragma once

#include <cstddef>

#include "backend/ranks.hpp"
#include "base/descriptor.hpp"

namespace mase::train {

/// All processes call the same functions in the same order.
class SharedMemory {
 public:
  /// Uses `ranks.memory`, an empty file that the launcher gave to all processes.
  explicit SharedMemory(const backend::Ranks& ranks);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// At least `bytes` bytes that all processes see, at a multiple of 64. Their content is lost when
  /// they grow. std::runtime_error if the machine does not have so many.
  std::byte* bytes(std::size_t bytes);
  /// Waits until all processes have come here. What they wrote before is visible afterwards.
  /// std::runtime_error if they do not come in time.
  void meet();

 private:
  struct Gate;
  Gate& gate() const;
  void map(std::size_t size);
  void wait_for_next(unsigned generation);

  backend::Ranks ranks_;
  Descriptor file_;
  std::byte* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
};

}  // namespace mase::train
