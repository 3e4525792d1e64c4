// SPDX-License-Identifier: Apache-2.0
// Looking up parts of a design.
#include "hardware/design/design.hpp"

#include <algorithm>
#include <set>

#include "hardware/design/modules/fifo.hpp"

namespace mase::design {

int Distribution::device(const std::string& node) const {
  const auto found = devices.find(node);
  return found == devices.end() ? 0 : found->second;
}

bool Distribution::has_links() const {
  return std::ranges::any_of(
      devices, [&](const auto& entry) { return entry.second != devices.begin()->second; });
}

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

std::vector<int> Design::devices() const {
  std::set<int> found;
  for (const Instance& instance : instances)
    if (instance.device != between_devices) found.insert(instance.device);
  return {found.begin(), found.end()};
}

}  // namespace mase::design
