// SPDX-License-Identifier: Apache-2.0
// The seed of stochastic rounding, and which of its numbers the elements of a tensor get.
#pragma once

#include <cstdint>

#include "formats/rounding.hpp"

namespace mase::formats {

/// Element i of a tensor gets number `first + i` of the key's. A tensor that is a part of another
/// one, from element `first` on, so gets the numbers that it has there.
struct Seed {
  constexpr Seed(std::uint64_t of = 0, std::uint64_t from = 0) : key(of), first(from) {}

  std::uint64_t key, first;
};

/// The number of an element.
inline double stochastic_offset(const Seed& seed, std::uint64_t index) {
  return stochastic_offset(seed.key, seed.first + index);
}

}  // namespace mase::formats
