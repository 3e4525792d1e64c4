// SPDX-License-Identifier: Apache-2.0
// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011) as a constant function, which threads of a GPU can call, too.
#pragma once

#include <array>
#include <cstdint>

namespace mase {

/// One round: two 32x32-bit products, their high words mixed with the counter and the key.
constexpr std::array<std::uint32_t, 4> philox_round(const std::array<std::uint32_t, 4>& c,
                                                    const std::array<std::uint32_t, 2>& key) {
  const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
  const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
  return {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
          static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
}

/// The words of `philox` (base/random.hpp).
constexpr std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter,
                                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key);
    key[0] += 0x9E3779B9;  // the golden ratio
    key[1] += 0xBB67AE85;  // the square root of 3, minus 1
  }
  return counter;
}

}  // namespace mase
