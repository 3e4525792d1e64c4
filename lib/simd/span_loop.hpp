// SPDX-License-Identifier: Apache-2.0
// Applies a vector operation to a span.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/parts.hpp"

namespace mase::simd {
namespace {

/// The floats of a slice such that the second-level cache holds it and the next one.
constexpr std::size_t cached_count = std::size_t{1} << 16;

/// Applies `op` with stores that bypass the caches, which need an aligned output; returns the count
/// of elements done. Other threads see them only after a fence. (Set is Simd; it is a parameter so
/// that sets without such stores compile.)
template <class Set, class Op>
MASE_SIMD std::size_t apply_streaming(const Op& op, const float* in, float* out,
                                      std::size_t count) {
  const std::uintptr_t misaligned =
      (0 - reinterpret_cast<std::uintptr_t>(out)) % (Simd::width * sizeof(float));
  const std::size_t head = misaligned / sizeof(float);
  std::size_t i = head < count ? head : count;
  if (i > 0) store_part(out, op(load_part(in, i)), i);
  // A slice that fits the caches has already been read for its scale, so the next one is fetched.
  const std::size_t ahead = count <= cached_count ? count : 0;
  for (; i + Simd::width <= count; i += Simd::width) {
    __builtin_prefetch(in + i + ahead);
    Set::stream(out + i, op(Simd::load(in + i)));
  }
  return i;
}

/// out[i] = op(in[i]) for every i below `count`; `in` and `out` are the same or do not overlap.
/// With `stream`, stores bypass the caches where possible; the caller then calls stream_fence().
template <class Op>
MASE_SIMD void apply(const Op& op, const float* in, float* out, std::size_t count, bool stream) {
  std::size_t i = 0;
  if constexpr (Simd::can_stream)
    if (stream && in != out) i = apply_streaming<Simd>(op, in, out, count);
  for (; i + Simd::width <= count; i += Simd::width) Simd::store(out + i, op(Simd::load(in + i)));
  if (i < count) store_part(out + i, op(load_part(in + i, count - i)), count - i);
}

/// The same for a whole tensor: large ones are streamed.
template <class Op>
MASE_SIMD void apply(const Op& op, const float* in, float* out, std::size_t count) {
  const bool stream = count >= streaming_count;
  apply(op, in, out, count, stream);
  if (stream) stream_fence();
}

}  // namespace
}  // namespace mase::simd
