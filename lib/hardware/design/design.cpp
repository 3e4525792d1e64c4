// SPDX-License-Identifier: Apache-2.0
// Looking up parts of a design.
#include "hardware/design/design.hpp"

#include <algorithm>

#include "hardware/design/modules/fifo.hpp"

namespace mase::design {

const Memory* Design::find_memory(const std::string& file) const {
  const auto it = std::find_if(memories.begin(), memories.end(),
                               [&](const Memory& memory) { return memory.file == file; });
  return it == memories.end() ? nullptr : &*it;
}

std::vector<std::size_t> Design::fifos() const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < instances.size(); ++i)
    if (is_a<FifoModule>(instances[i])) places.push_back(i);
  return places;
}

}  // namespace mase::design
