// SPDX-License-Identifier: Apache-2.0
// Formats of two or three values over a span, and the sums that their scales need, for each
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/low_bit/magnitudes.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// x > above gives `high` (code 1), x < below gives `low` (code 3), any other x `mid` (code 0).
struct ThreeWay {
  float above = 0, below = 0;
  float high = 1, mid = 0, low = -1;
  bool keeps_nan = true;  ///< NaN stays NaN, otherwise it gives `mid`
};

/// The kernels of an instruction set; `in` and `out` are the same or do not overlap.
struct ThreeWayKernels {
  /// With `stream`, stores bypass the caches; the caller ends with stream_fence().
  void (*quantize)(const ThreeWay& values, const float* in, float* out, std::size_t count,
                   bool stream);
  /// Returns true when an element is NaN.
  bool (*encode)(const ThreeWay& values, const float* in, std::uint32_t* codes, std::size_t count);
  /// Values of the codes 0, 1 and 3.
  void (*decode)(const ThreeWay& values, const std::uint32_t* codes, float* out, std::size_t count);
  MagnitudeSum (*sum_magnitudes)(const float* in, std::size_t count, float above);
};

/// The same bits for all instruction sets.
MASE_KERNELS(ThreeWayKernels, three_way_kernels, avx512);

/// Signs by chance: `high` (code 1) with probability (x + 1) / 2 by the numbers of
/// offset_kernel.hpp, otherwise `mid` (code 0). NaN stays NaN, and its code has no meaning. `count`
/// is a multiple of 16; `in` and `out` are the same or do not overlap.
struct DrawnSignKernel {
  void (*quantize)(const ThreeWay& values, const float* in, const float* offsets, float* out,
                   std::size_t count);
  void (*encode)(const float* in, const float* offsets, std::uint32_t* codes, std::size_t count);
};
MASE_KERNELS(DrawnSignKernel, drawn_sign_kernel, avx512);

}  // namespace mase::formats::kernels
