// SPDX-License-Identifier: Apache-2.0
// The rest of a span that does not fill a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd/simd.hpp"

namespace mase::simd {
namespace {

/// Loads at least one element, but fewer than a vector holds; the other lanes are 0.
MASE_SIMD Simd::Vec load_part(const float* from, std::size_t count) {
  float part[Simd::width] = {};
  std::memcpy(part, from, count * sizeof(float));
  return Simd::load(part);
}

/// Stores the first `count` lanes.
MASE_SIMD void store_part(float* to, Simd::Vec v, std::size_t count) {
  float part[Simd::width];
  Simd::store(part, v);
  std::memcpy(to, part, count * sizeof(float));
}

/// The same for integers.
MASE_SIMD Simd::Bits load_part_bits(const std::int32_t* from, std::size_t count) {
  std::int32_t part[Simd::width] = {};
  std::memcpy(part, from, count * sizeof(std::int32_t));
  return Simd::load_bits(part);
}

MASE_SIMD void store_part_bits(std::int32_t* to, Simd::Bits v, std::size_t count) {
  std::int32_t part[Simd::width];
  Simd::store_bits(part, v);
  std::memcpy(to, part, count * sizeof(std::int32_t));
}

}  // namespace
}  // namespace mase::simd
