// SPDX-License-Identifier: Apache-2.0
// Applies vector operations between floats and codes to a span.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/parts.hpp"

namespace mase::simd {
namespace {

/// Encodes one vector; raises `largest` to its largest magnitude, as bits.
template <class Op>
MASE_SIMD Simd::Bits encode_vector(const Op& op, Simd::Vec x, Simd::Bits& largest) {
  largest = Simd::max_bits(largest, Simd::and_bits(Simd::bits(x), Simd::all_bits(0x7fffffff)));
  return op(x);
}

/// codes[i] = op(in[i]) for every i below `count`; returns true when an element is NaN.
template <class Op>
MASE_SIMD bool encode_span(const Op& op, const float* in, std::uint32_t* codes, std::size_t count) {
  Simd::Bits largest = Simd::all_bits(0);
  auto* out = reinterpret_cast<std::int32_t*>(codes);
  std::size_t i = 0;
  for (; i + Simd::width <= count; i += Simd::width)
    Simd::store_bits(out + i, encode_vector(op, Simd::load(in + i), largest));
  if (i < count)
    store_part_bits(out + i, encode_vector(op, load_part(in + i, count - i), largest), count - i);
  return Simd::largest(largest) > 0x7f800000;
}

/// out[i] = op(codes[i]) for every i below `count`.
template <class Op>
MASE_SIMD void decode_span(const Op& op, const std::uint32_t* codes, float* out,
                           std::size_t count) {
  const auto* from = reinterpret_cast<const std::int32_t*>(codes);
  std::size_t i = 0;
  for (; i + Simd::width <= count; i += Simd::width)
    Simd::store(out + i, op(Simd::load_bits(from + i)));
  if (i < count) store_part(out + i, op(load_part_bits(from + i, count - i)), count - i);
}

}  // namespace
}  // namespace mase::simd
