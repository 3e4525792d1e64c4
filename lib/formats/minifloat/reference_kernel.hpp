// SPDX-License-Identifier: Apache-2.0
// Fake quantization by the reference system's minifloats and powers of two, for each instruction
// set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/minifloat/log_scalar.hpp"
#include "formats/minifloat/minifloat_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// A format of profile reference as numbers.
struct ReferenceGrid {
  const std::int32_t* carries = nullptr;  ///< carries of the RoundedLog2 for exponents
  std::int32_t low = 0, high = 0;         ///< lowest and highest exponent
  float unit = 1;                         ///< for a minifloat: 2^mantissa_bits
  float zeta = 0;                         ///< for a power of two: see log_zeta
};

ReferenceGrid reference_grid(const MinifloatSpec& spec);
ReferenceGrid reference_grid(const LogSpec& spec);

/// `in` and `out` are the same or do not overlap.
using ReferenceKernel = void (*)(const ReferenceGrid& grid, const float* in, float* out,
                                 std::size_t count);

/// Kernels that give the bits of quantize_minifloat_scalar, with a hidden bit and without, and of
/// quantize_log_scalar.
struct ReferenceKernels {
  ReferenceKernel hidden, no_hidden, log;
};
MASE_KERNELS(ReferenceKernels, reference_kernels, avx512);

}  // namespace mase::formats::kernels
