// SPDX-License-Identifier: Apache-2.0
// Products of pairs of 16-bit integers, added up in 32 bits, for every lane of Simd::Bits. On
// AVX-512 they need BW; with VNNI, two products and the sum are one instruction.
#pragma once

#include "simd/simd.hpp"

namespace mase::simd {
namespace {

#if MASE_SIMD_SET == 0
struct Pairs {
  std::int16_t of[2 * Simd::width];
};
MASE_SIMD Pairs load_pairs(const std::int16_t* from) {
  Pairs pairs;
  for (std::size_t i = 0; i < 2 * Simd::width; ++i) pairs.of[i] = from[i];
  return pairs;
}
/// The same pair in every lane.
MASE_SIMD Pairs same_pair(const std::int16_t* from) {
  Pairs pairs;
  for (std::size_t i = 0; i < 2 * Simd::width; ++i) pairs.of[i] = from[i % 2];
  return pairs;
}
MASE_SIMD Simd::Bits add_products(Simd::Bits sum, const Pairs& a, const Pairs& b) {
  for (std::size_t i = 0; i < Simd::width; ++i)
    sum[i] += a.of[2 * i] * b.of[2 * i] + a.of[2 * i + 1] * b.of[2 * i + 1];
  return sum;
}
#else
using Pairs = Simd::Bits;
MASE_SIMD Pairs load_pairs(const std::int16_t* from) {
  Pairs pairs;
  __builtin_memcpy(&pairs, from, sizeof pairs);
  return pairs;
}
MASE_SIMD Pairs same_pair(const std::int16_t* from) {
  std::int32_t pair;
  __builtin_memcpy(&pair, from, sizeof pair);
  return Simd::all_bits(pair);
}
MASE_SIMD Simd::Bits add_products(Simd::Bits sum, Pairs a, Pairs b) {
#if MASE_SIMD_SET == 1
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#else
  return _mm512_dpwssd_epi32(sum, a, b);
#endif
}
#endif

}  // namespace
}  // namespace mase::simd
