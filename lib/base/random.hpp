// SPDX-License-Identifier: Apache-2.0
// A counter-based random generator (Philox-4x32-10, Salmon et al., SC 2011): the same numbers on
// every machine and for any thread count, because number i depends on (seed, stream, i) only.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace mase {

/// One Philox-4x32-10 block: 4 random words from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// A sequence of random numbers: those of one (seed, stream), in order.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint32_t next_u32();
  double uniform();                                           ///< in [0, 1), 53 bits
  double uniform(double low, double high);                    ///< in [low, high)
  double normal();                                            ///< standard normal (Box-Muller)
  std::uint64_t below(std::uint64_t bound);                   ///< unbiased in [0, bound)
  std::vector<std::int64_t> permutation(std::int64_t count);  ///< Fisher-Yates of 0 .. count-1

 private:
  std::uint64_t seed_, stream_, counter_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace mase
