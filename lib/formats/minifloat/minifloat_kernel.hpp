// SPDX-License-Identifier: Apache-2.0
// Fake quantization by a minifloat over a span, in float32, for each instruction set (profile
// exact).
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/minifloat/minifloat_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// A minifloat's grid as float32 numbers and bit patterns.
struct MinifloatGrid {
  float limit = 0;             ///< magnitudes are cut off here: the largest, or the power above it
  float largest = 0;           ///< the largest finite value
  float overflow = 0;          ///< what becomes of larger magnitudes
  std::int32_t lowest = 0;     ///< bits of 2^lowest_exponent
  std::int32_t to_addend = 0;  ///< from a power's bits to those of the addend that rounds there
};

MinifloatGrid minifloat_grid(const MinifloatSpec& spec);

/// How a minifloat's grid relates to float32 arithmetic, which needs a lowest exponent from -126
/// up.
enum class MinifloatRange : std::uint8_t {
  narrow,       ///< additions round to the grid: OnMinifloatGrid
  overflowing,  ///< the same, and what is beyond becomes infinity or NaN
  wide,         ///< they do with large magnitudes scaled down: OnWideMinifloatGrid
  beyond,       ///< only the definition will do, as for profile reference
};

MinifloatRange minifloat_range(const MinifloatSpec& spec);

/// Whether stochastic rounding has kernels by additions: range narrow or overflowing, and a float32
/// number for one over each step.
bool draws_by_addition(const MinifloatSpec& spec);

/// Whether it has kernels in bit patterns: float32 numbers for all values, and steps of at most 1
/// below the lowest exponent.
bool draws_in_bits(const MinifloatSpec& spec);

/// Whether it has kernels of either kind.
bool can_draw(const MinifloatSpec& spec);

/// A minifloat's codes in terms of float32 bit patterns.
struct MinifloatCodeGrid {
  std::int32_t lowest = 0;       ///< bits of 2^lowest_exponent
  std::int32_t addend = 0;       ///< bits of 2^(lowest_exponent + 23 - fraction_bits)
  std::int32_t leading_one = 0;  ///< 2^fraction_bits
  std::int32_t largest = 0;      ///< bits of the largest finite value
  std::int32_t infinity = 0;     ///< code of infinity
  std::int32_t nan = 0;          ///< code of NaN
  int fraction_shift = 0;        ///< 23 - fraction_bits
  int sign_shift = 0;            ///< 32 - width
};

MinifloatCodeGrid minifloat_code_grid(const MinifloatSpec& spec);

/// Whether the kernels encode: all values are float32.
bool can_encode(const MinifloatSpec& spec);

/// Encodes; returns whether there is a NaN, whose code has no meaning in a format without one.
using MinifloatEncoder = bool (*)(const MinifloatGrid& grid, const MinifloatCodeGrid& codes,
                                  const float* in, std::uint32_t* out, std::size_t count);

/// The kernels of a rounding and a range; `in` and `out` of `quantize` are the same or do not
/// overlap.
struct MinifloatKernel {
  void (*quantize)(const MinifloatGrid& grid, const float* in, float* out, std::size_t count);
  MinifloatEncoder encode_hidden;     ///< with a hidden bit
  MinifloatEncoder encode_no_hidden;  ///< without
};

struct MinifloatKernels {
  MinifloatKernel narrow, overflowing, wide;

  const MinifloatKernel& operator[](MinifloatRange range) const {
    MASE_CHECK(range != MinifloatRange::beyond, "a minifloat without a span kernel");
    if (range == MinifloatRange::wide) return wide;
    return range == MinifloatRange::overflowing ? overflowing : narrow;
  }
};

/// Kernels of stochastic rounding, for grids that can_draw, with the numbers of offset_kernel.hpp.
/// `count` is a multiple of 16; `in` and `out` are the same or do not overlap.
struct DrawnMinifloatKernel {
  using Encoder = void (*)(const MinifloatGrid& grid, const MinifloatCodeGrid& codes,
                           const float* in, const float* offsets, std::uint32_t* out,
                           std::size_t count);
  void (*quantize)(const MinifloatGrid& grid, const float* in, const float* offsets, float* out,
                   std::size_t count);
  Encoder encode_hidden, encode_no_hidden;
};

/// By how they round and whether large values overflow.
struct DrawnMinifloatKernels {
  DrawnMinifloatKernel narrow, overflowing, in_bits, in_bits_overflowing;
};
/// The one of a grid that can_draw.
const DrawnMinifloatKernel& drawn_kernel(const DrawnMinifloatKernels& kernels,
                                         const MinifloatSpec& spec);
MASE_KERNELS(DrawnMinifloatKernels, drawn_minifloat_kernels, avx512);

/// All sets give the bits of the definition (but for the payload of a NaN).
MASE_KERNELS(ByRounding<MinifloatKernels>, minifloat_kernels, avx512);

}  // namespace mase::formats::kernels
