// SPDX-License-Identifier: Apache-2.0
// Formats of two or three values over a span, and the sums that their scales need, for each
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/low_bit/magnitudes.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// x > above gives `high` (code 1), else x < below gives `low` (code 3), else `mid` (code 0).
struct ThreeWay {
  float above = 0, below = 0;
  float high = 1, mid = 0, low = -1;
  bool keeps_nan = true;  ///< NaN gives itself, else `mid`
};

/// What an instruction set offers; `in` and `out` are the same or do not overlap.
struct ThreeWayKernels {
  /// `stream`: stores past the caches; end with stream_fence().
  void (*quantize)(const ThreeWay& values, const float* in, float* out, std::size_t count,
                   bool stream);
  /// Returns whether an element is NaN.
  bool (*encode)(const ThreeWay& values, const float* in, std::uint32_t* codes, std::size_t count);
  /// Values of the codes 0, 1 and 3.
  void (*decode)(const ThreeWay& values, const std::uint32_t* codes, float* out, std::size_t count);
  MagnitudeSum (*sum_magnitudes)(const float* in, std::size_t count, float above);
};

/// The same bits for all instruction sets.
MASE_KERNELS(ThreeWayKernels, three_way_kernels, avx512);

/// Signs by chance: `high` (code 1) with probability (x + 1) / 2 by the numbers of
/// offset_kernel.hpp, else `mid` (code 0); NaN gives itself, its code has no meaning. `count` is a
/// multiple of 16; `in` and `out` are the same or do not overlap.
struct DrawnSignKernel {
  void (*quantize)(const ThreeWay& values, const float* in, const float* offsets, float* out,
                   std::size_t count);
  void (*encode)(const float* in, const float* offsets, std::uint32_t* codes, std::size_t count);
};
MASE_KERNELS(DrawnSignKernel, drawn_sign_kernel, avx512);

}  // namespace mase::formats::kernels
