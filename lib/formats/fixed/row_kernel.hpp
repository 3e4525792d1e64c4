// SPDX-License-Identifier: Apache-2.0
// Integers with a scale per row over a span, for each instruction set (exact profile).
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/fixed/scale_integer_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// The grid of one row's elements. Up to the width widest_row_kernel, codes are exact in float32,
/// and no quotient in double is so near to a tie that its rounding matters.
struct RowGrid {
  float step = 1;
  float low = 0, high = 0;  ///< the least and the greatest code
};
constexpr int widest_row_kernel = 22;

/// An instruction set's kernels for one rounding; `in` and `out` are the same or do not overlap.
struct RowKernels {
  /// With `stream`, stores bypass the caches; the caller ends with stream_fence().
  void (*quantize)(const RowGrid& grid, const float* in, float* out, std::size_t count,
                   bool stream);
  /// Sign-extended codes; returns true when an element is NaN.
  bool (*encode)(const RowGrid& grid, const float* in, std::uint32_t* codes, std::size_t count);
  float (*peak)(const float* in, std::size_t count);  ///< largest finite magnitude
};

MASE_KERNELS(ByRounding<RowKernels>, row_kernels, avx512);

/// Profile reference: elements are multiplied by a grid's `step`, and codes are divided by it.
struct ReferenceRowKernel {
  void (*quantize)(const RowGrid& grid, const float* in, float* out, std::size_t count,
                   bool stream);
  float (*peak)(const float* in, std::size_t count);  ///< largest magnitude, NaN if there is one
};
MASE_KERNELS(ReferenceRowKernel, reference_row_kernel, avx512);

/// Stochastic rounding with the numbers of offset_kernel.hpp. `count` is a multiple of 16; `in` and
/// `out` are the same or do not overlap. The code of a NaN has no meaning.
struct DrawnRowKernel {
  void (*quantize)(const RowGrid& grid, const float* in, const float* offsets, float* out,
                   std::size_t count);
  void (*encode)(const RowGrid& grid, const float* in, const float* offsets, std::uint32_t* codes,
                 std::size_t count);
};
MASE_KERNELS(DrawnRowKernel, drawn_row_kernel, avx512);

}  // namespace mase::formats::kernels
