// Magnitudes of vectors and of whole tiles, as bits. Included by kernel source files after their
// simd_*.hpp.
//
// Magnitudes are compared as integers: without the sign bit, the bits of floats are in their order.
#pragma once

#include "formats/kernels/block_chunks.hpp"

namespace mase::formats::kernels {
namespace {

using Bits = Simd::Bits;

template <bool finite_only>
MASE_SIMD Bits magnitude(Simd::Vec x) {
  const Bits bits = Simd::and_bits(Simd::bits(x), Simd::all_bits(0x7fffffff));
  if constexpr (!finite_only) return bits;
  return Simd::select_less_bits(bits, Simd::all_bits(0x7f800000), bits, Simd::all_bits(0));
}

/// The peaks of as many tiles of one row as a vector has lanes; tiles are whole vectors.
template <bool finite_only>
MASE_SIMD Bits peaks_of_lanes(const float* row, std::size_t tile) {
  Bits peaks[Simd::width];
  for (std::size_t t = 0; t < Simd::width; ++t, row += tile) {
    __builtin_prefetch(row + fetch_ahead);
    peaks[t] = magnitude<finite_only>(Simd::load(row));
    for (std::size_t i = Simd::width; i < tile; i += Simd::width) {
      __builtin_prefetch(row + i + fetch_ahead);
      peaks[t] = Simd::max_bits(peaks[t], magnitude<finite_only>(Simd::load(row + i)));
    }
  }
  return Simd::largest_of_each(peaks);
}

}  // namespace
}  // namespace mase::formats::kernels
