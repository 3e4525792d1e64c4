// SPDX-License-Identifier: Apache-2.0
// Finds the instruction sets of the running machine.
#include "simd/isa.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mase::simd {

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return "portable";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::avx512_vnni:
      return "avx512_vnni";
  }
  return "";
}

bool is_available(Isa isa) {
#if defined(MASE_X86_KERNELS)
  if (isa >= Isa::avx2 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    return false;
  if (isa >= Isa::avx512 && !__builtin_cpu_supports("avx512f")) return false;
  return isa < Isa::avx512_vnni ||
         (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512vnni"));
#else
  return isa == Isa::portable;
#endif
}

std::vector<Isa> available_isas(std::span<const Isa> isas) {
  std::vector<Isa> available;
  for (const Isa isa : isas)
    if (is_available(isa)) available.push_back(isa);
  return available;
}

Isa best_isa() {
  static const Isa best = [] {
    constexpr std::array all{Isa::portable, Isa::avx2, Isa::avx512, Isa::avx512_vnni};
    return available_isas(all).back();
  }();
  return best;
}

void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace mase::simd
