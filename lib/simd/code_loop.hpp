// SPDX-License-Identifier: Apache-2.0
// Applying vector operations between floats and codes to a span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd/simd.hpp"

namespace mase::simd {
namespace {

/// Encodes one vector; `largest` grows to its largest magnitude as bits.
template <class Op>
MASE_SIMD void encode_vector(const Op& op, const float* in, std::int32_t* codes,
                             Simd::Bits& largest) {
  const Simd::Vec x = Simd::load(in);
  largest = Simd::max_bits(largest, Simd::and_bits(Simd::bits(x), Simd::all_bits(0x7fffffff)));
  Simd::store_bits(codes, op(x));
}

/// codes[i] = op(in[i]) for every i below `count`; returns whether an element is NaN.
template <class Op>
MASE_SIMD bool encode_span(const Op& op, const float* in, std::uint32_t* codes, std::size_t count) {
  Simd::Bits largest = Simd::all_bits(0);
  auto* out = reinterpret_cast<std::int32_t*>(codes);
  std::size_t i = 0;
  for (; i + Simd::width <= count; i += Simd::width) encode_vector(op, in + i, out + i, largest);
  if (i < count) {
    float part[Simd::width] = {};
    std::int32_t made[Simd::width];
    std::memcpy(part, in + i, (count - i) * sizeof(float));
    encode_vector(op, part, made, largest);
    std::memcpy(out + i, made, (count - i) * sizeof(float));
  }
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
  if (i < count) {
    std::int32_t part[Simd::width] = {};
    float made[Simd::width];
    std::memcpy(part, from + i, (count - i) * sizeof(float));
    Simd::store(made, op(Simd::load_bits(part)));
    std::memcpy(out + i, made, (count - i) * sizeof(float));
  }
}

}  // namespace
}  // namespace mase::simd
