// SPDX-License-Identifier: Apache-2.0
// The random numbers of stochastic rounding for runs of elements, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// The elements for which the numbers are, which memory fetches meanwhile; null without any.
struct OffsetElements {
  const void* in = nullptr;
  const void* out = nullptr;
};

/// out[i] = stochastic_offset(seed, first + i), exact in float32, where the seed is a key; `first`
/// is a multiple of 4.
using OffsetKernel = void (*)(std::uint64_t seed, std::uint64_t first, float* out,
                              std::size_t count, const OffsetElements& elements);

/// The same numbers for all instruction sets.
MASE_KERNELS(OffsetKernel, offset_kernel, avx512);

}  // namespace mase::formats::kernels
