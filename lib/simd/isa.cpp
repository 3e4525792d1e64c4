// Finding the instruction sets of the running machine.
#include "simd/isa.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mase::formats::kernels {

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return "portable";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "";
}

bool is_available(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return __builtin_cpu_supports("avx2");
  if (isa == Isa::avx512) return __builtin_cpu_supports("avx512f");
#endif
  return isa == Isa::portable;
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512})
    if (is_available(isa)) isas.push_back(isa);
  return isas;
}

Isa best_isa() {
  static const Isa best = available_isas().back();
  return best;
}

void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace mase::formats::kernels
