// SPDX-License-Identifier: Apache-2.0
// Instruction sets that kernels are compiled for, and the best one of the running machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Defined when kernels are compiled for more than the portable set.
#if defined(__x86_64__) && !defined(MASE_PORTABLE)
#define MASE_X86_KERNELS
#endif

namespace mase::simd {

/// Instruction sets; each includes those before it.
enum class Isa : std::uint8_t {
  portable,     ///< any machine
  avx2,         ///< AVX2 and FMA
  avx512,       ///< AVX-512F
  avx512_vnni,  ///< AVX-512 BW, VL and VNNI too
};

/// The sets for which kernels on floats are compiled, and those for kernels on integers.
inline constexpr std::array float_isas{Isa::portable, Isa::avx2, Isa::avx512};
inline constexpr std::array integer_isas{Isa::portable, Isa::avx2, Isa::avx512_vnni};

std::string_view isa_name(Isa isa);
bool is_available(Isa isa);  ///< supported by this machine
/// Those of `isas` that this machine supports, from portable to the best.
std::vector<Isa> available_isas(std::span<const Isa> isas = float_isas);
Isa best_isa();  ///< the best of all sets; found once

/// From this count on (32 MiB) the output outgrows the caches, and stores that bypass them save
/// reading it first: a quarter of the time in bench_formats. Smaller outputs stay cached.
constexpr std::size_t streaming_count = std::size_t{8} << 20;
/// Makes streamed outputs visible to other threads.
void stream_fence();

}  // namespace mase::simd
