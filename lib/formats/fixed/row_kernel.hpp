// SPDX-License-Identifier: Apache-2.0
// Integers with a scale per row over a span, for each instruction set (exact profile).
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/fixed/scale_integer_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// What one row's elements are quantized by. Widths up to widest_row_kernel: codes are exact in
/// float32, and no quotient in double lies so near a tie that its rounding matters.
struct RowGrid {
  float step = 1;
  float low = 0, high = 0;  ///< codes
};
constexpr int widest_row_kernel = 22;

/// What an instruction set offers for a rounding; `in` and `out` are the same or do not overlap.
struct RowKernels {
  /// `stream`: stores past the caches; end with stream_fence().
  void (*quantize)(const RowGrid& grid, const float* in, float* out, std::size_t count,
                   bool stream);
  /// Codes sign-extended; returns whether an element is NaN.
  bool (*encode)(const RowGrid& grid, const float* in, std::uint32_t* codes, std::size_t count);
  float (*peak)(const float* in, std::size_t count);  ///< largest finite magnitude
};

MASE_KERNELS(ByRounding<RowKernels>, row_kernels, avx512);

/// Profile reference: `step` of a grid is what elements are multiplied by, and codes divided.
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
