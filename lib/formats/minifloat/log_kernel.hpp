// SPDX-License-Identifier: Apache-2.0
// Fake quantization by the format log over a span, in float32, for each instruction set (profile
// exact).
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/minifloat/log_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// A logarithmic format as float32 numbers and bit patterns.
struct LogGrid {
  float highest = 0;             ///< largest magnitude
  float lowest = 0;              ///< smallest magnitude
  float flush = 0;               ///< magnitudes up to this become `below`, except with floor
  float below = 0;               ///< zero, or the smallest magnitude when there is no zero
  std::int32_t round_up = 0;     ///< added to a magnitude's bits; carries when it rounds up
  std::int32_t code_offset = 0;  ///< the exponent field of a value minus its code
  int sign_shift = 0;            ///< 32 - width
};

LogGrid log_grid(const LogSpec& spec);

/// True when OnLogGrid and LogCode give the format's bits: all of its powers are normal float32.
bool fits_float32(const LogSpec& spec);

/// The kernels of a rounding. `in` and `out` of `quantize` are the same or do not
/// overlap. `encode` returns true when there is a NaN, whose code has no meaning.
struct LogKernel {
  void (*quantize)(const LogGrid& grid, const float* in, float* out, std::size_t count);
  bool (*encode)(const LogGrid& grid, const float* in, std::uint32_t* out, std::size_t count);
};

/// All instruction sets give the bits of the definition.
MASE_KERNELS(ByRounding<LogKernel>, log_kernels, avx512);

/// Kernels of stochastic rounding, with the numbers of offset_kernel.hpp. `count` is a multiple of
/// 16; `in` and `out` are the same or do not overlap.
struct DrawnLogKernel {
  void (*quantize)(const LogGrid& grid, const float* in, const float* offsets, float* out,
                   std::size_t count);
  void (*encode)(const LogGrid& grid, const float* in, const float* offsets, std::uint32_t* out,
                 std::size_t count);
};
MASE_KERNELS(DrawnLogKernel, drawn_log_kernel, avx512);

}  // namespace mase::formats::kernels
