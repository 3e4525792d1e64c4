// SPDX-License-Identifier: Apache-2.0
// Fake quantization by minifloats and powers of two as the reference system has them, for each
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/minifloat/log_scalar.hpp"
#include "formats/minifloat/minifloat_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// A format of profile reference as numbers.
struct ReferenceGrid {
  const std::int32_t* carries = nullptr;  ///< of the RoundedLog2 that gives exponents
  std::int32_t low = 0, high = 0;         ///< exponents
  float unit = 1;                         ///< of a minifloat: 2^mantissa_bits
  float zeta = 0;                         ///< of a power of two: see log_zeta
};

ReferenceGrid reference_grid(const MinifloatSpec& spec);
ReferenceGrid reference_grid(const LogSpec& spec);

/// `in` and `out` are the same or do not overlap.
using ReferenceKernel = void (*)(const ReferenceGrid& grid, const float* in, float* out,
                                 std::size_t count);

/// The bits of quantize_minifloat_scalar, with a hidden bit and without, and of
/// quantize_log_scalar.
struct ReferenceKernels {
  ReferenceKernel hidden, no_hidden, log;
};
MASE_KERNELS(ReferenceKernels, reference_kernels, avx512);

}  // namespace mase::formats::kernels
