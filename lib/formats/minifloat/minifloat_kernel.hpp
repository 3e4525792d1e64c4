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
  float limit = 0;             ///< where magnitudes are cut off: the largest, or the power above
  float largest = 0;           ///< the largest finite value
  float overflow = 0;          ///< the value that larger magnitudes become
  std::int32_t lowest = 0;     ///< bits of 2^lowest_exponent
  std::int32_t to_addend = 0;  ///< difference of the bits of a power and of its rounding addend
};

MinifloatGrid minifloat_grid(const MinifloatSpec& spec);

/// How a minifloat's grid relates to float32 arithmetic, which needs a lowest exponent of at least
/// -126.
enum class MinifloatRange : std::uint8_t {
  narrow,       ///< additions round to the grid: OnMinifloatGrid
  overflowing,  ///< the same, but larger numbers become infinity or NaN
  wide,         ///< the same, if large magnitudes are scaled down: OnWideMinifloatGrid
  beyond,       ///< only the definition works, as for profile reference
};

MinifloatRange minifloat_range(const MinifloatSpec& spec);

/// True when numbers that are too large become infinity or NaN.
bool overflows(const MinifloatSpec& spec);

/// True when stochastic rounding has kernels that use additions: the range is narrow or
/// overflowing, and one over each step is a float32 number.
bool draws_by_addition(const MinifloatSpec& spec);

/// True when it has kernels that use bit patterns: all values are float32 numbers, and steps below
/// the lowest exponent are at most 1.
bool draws_in_bits(const MinifloatSpec& spec);

/// True when it has kernels of either kind.
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

/// True when the kernels can encode: all values are float32 numbers.
bool can_encode(const MinifloatSpec& spec);

/// Encodes; returns true when there is a NaN, whose code has no meaning in a format without NaN.
using MinifloatEncoder = bool (*)(const MinifloatGrid& grid, const MinifloatCodeGrid& codes,
                                  const float* in, std::uint32_t* out, std::size_t count);

/// The kernels of a rounding and a range; `in` and `out` of `quantize` are the same or do not
/// overlap.
struct MinifloatKernel {
  void (*quantize)(const MinifloatGrid& grid, const float* in, float* out, std::size_t count);
  MinifloatEncoder encode_hidden;     ///< for formats with a hidden bit
  MinifloatEncoder encode_no_hidden;  ///< for formats without a hidden bit
};

/// One kernel for each range.
template <class Kernel>
struct ByMinifloatRange {
  Kernel narrow, overflowing, wide;

  const Kernel& operator[](MinifloatRange range) const {
    MASE_CHECK(range != MinifloatRange::beyond, "a minifloat without a span kernel");
    if (range == MinifloatRange::wide) return wide;
    return range == MinifloatRange::overflowing ? overflowing : narrow;
  }
};
using MinifloatKernels = ByMinifloatRange<MinifloatKernel>;

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

/// Kernels by how they round and by whether large values overflow.
template <class Kernel>
struct ByMinifloatDraw {
  Kernel narrow, overflowing, in_bits, in_bits_overflowing;

  /// The kernel for a grid for which can_draw holds.
  const Kernel& operator[](const MinifloatSpec& spec) const {
    if (draws_by_addition(spec)) return overflows(spec) ? overflowing : narrow;
    return overflows(spec) ? in_bits_overflowing : in_bits;
  }
};
using DrawnMinifloatKernels = ByMinifloatDraw<DrawnMinifloatKernel>;
MASE_KERNELS(DrawnMinifloatKernels, drawn_minifloat_kernels, avx512);

/// All sets give the bits of the definition (except the payload of a NaN).
MASE_KERNELS(ByRounding<MinifloatKernels>, minifloat_kernels, avx512);

}  // namespace mase::formats::kernels
