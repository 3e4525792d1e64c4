// SPDX-License-Identifier: Apache-2.0
// Addresses of memories that a host may write.
#include "hardware/design/reload_map.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "hardware/design/module_table.hpp"

namespace mase::design {
namespace {

std::int64_t power_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

/// All that a memory takes up.
std::int64_t span_of(const Memory& memory) {
  return reload_pitch(memory) * power_of_two(static_cast<std::int64_t>(memory.words.size()));
}

/// A memory and the parameter that says where it begins.
struct Owner {
  Memory* memory;
  std::optional<std::int64_t>* base;
};

std::vector<Owner> owners_of(Design& design) {
  std::vector<Owner> owners;
  for (Instance& instance : design.instances)
    for (const HostImage& image : instance.module->host_images()) {
      if (image.file.empty()) continue;
      const auto memory = std::ranges::find(design.memories, image.file, &Memory::file);
      MASE_CHECK(memory != design.memories.end(), "no memory " + image.file);
      owners.push_back({&*memory, image.base});
    }
  return owners;
}

}  // namespace

std::int64_t reload_pieces(const Memory& memory) { return (memory.word_bits + 31) / 32; }
std::int64_t reload_pitch(const Memory& memory) { return power_of_two(reload_pieces(memory)); }

void assign_bases(Design& design) {
  std::vector<Owner> owners = owners_of(design);
  std::ranges::stable_sort(owners, [](const Owner& a, const Owner& b) {
    return span_of(*a.memory) > span_of(*b.memory);
  });
  std::int64_t next = 0;
  for (const Owner& owner : owners) {
    owner.memory->base = next;
    *owner.base = next;
    next += span_of(*owner.memory);
  }
  if (next > std::int64_t{1} << reload_address_bits)
    unsupported_error("its memories need " + std::to_string(next) +
                      " addresses of 32 bits, more than 2^" + std::to_string(reload_address_bits) +
                      " that a reloadable design has; emit it without reloadable");
}

}  // namespace mase::design
