// Small functions of designs.
#include "hardware/design/design.hpp"

#include <algorithm>

namespace mase::design {

Cost& Cost::operator+=(const Cost& other) {
  lut += other.lut;
  ff += other.ff;
  carry += other.carry;
  dsp += other.dsp;
  bram += other.bram;
  return *this;
}

Cost scaled(const Cost& cost, double count) {
  return {cost.lut * count, cost.ff * count, cost.carry * count, cost.dsp * count,
          cost.bram * count};
}

const Memory* Design::find_memory(const std::string& file) const {
  const auto it = std::find_if(memories.begin(), memories.end(),
                               [&](const Memory& memory) { return memory.file == file; });
  return it == memories.end() ? nullptr : &*it;
}

}  // namespace mase::design
