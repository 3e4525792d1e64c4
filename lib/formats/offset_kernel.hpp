// The random numbers of stochastic rounding for runs of elements, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/isa.hpp"

namespace mase::formats::kernels {

/// out[i] = stochastic_offset(seed, first + i), exact in float32; `first` is a multiple of 4.
using OffsetKernel = void (*)(std::uint64_t seed, std::uint64_t first, float* out,
                              std::size_t count);

/// The kernel of an instruction set that is_available: the same numbers for all.
OffsetKernel offset_kernel(Isa isa);

// One per instruction set, called by the kernel that offset_kernel returns only.
void offsets_portable(std::uint64_t seed, std::uint64_t first, float* out, std::size_t count);
void offsets_avx2(std::uint64_t seed, std::uint64_t first, float* out, std::size_t count);
void offsets_avx512(std::uint64_t seed, std::uint64_t first, float* out, std::size_t count);

}  // namespace mase::formats::kernels
