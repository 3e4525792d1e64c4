// Vectors of 16 floats by AVX-512F (operations: see simd_portable.hpp).
#pragma once

#include <immintrin.h>

#include <cstddef>

#define MASE_SIMD_TARGET __attribute__((target("avx512f")))
#define MASE_SIMD MASE_SIMD_TARGET inline __attribute__((always_inline))

namespace mase::formats::kernels {
namespace {

struct Simd {
  using Vec = __m512;
  static constexpr std::size_t width = 16;
  static constexpr bool can_stream = true;
  // The forms without a mask read an undefined vector in GCC 12's headers, which warns.
  static constexpr __mmask16 every = 0xffff;

  MASE_SIMD static Vec all(float value) { return _mm512_set1_ps(value); }
  MASE_SIMD static Vec load(const float* from) { return _mm512_loadu_ps(from); }
  MASE_SIMD static void store(float* to, Vec v) { _mm512_storeu_ps(to, v); }
  MASE_SIMD static void stream(float* to, Vec v) { _mm512_stream_ps(to, v); }
  MASE_SIMD static void fence() { _mm_sfence(); }
  MASE_SIMD static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  MASE_SIMD static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  MASE_SIMD static Vec min(Vec a, Vec b) { return _mm512_maskz_min_ps(every, a, b); }
  MASE_SIMD static Vec max(Vec a, Vec b) { return _mm512_maskz_max_ps(every, a, b); }
  MASE_SIMD static Vec select_less(Vec a, Vec b, Vec then, Vec otherwise) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), otherwise, then);
  }
  MASE_SIMD static Vec copy_sign(Vec magnitude, Vec sign) {
    // 0xca is a ? b : c per bit: the magnitude under the mask, the sign above it.
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_set1_epi32(0x7fffffff),
                                                         _mm512_castps_si512(magnitude),
                                                         _mm512_castps_si512(sign), 0xca));
  }
  MASE_SIMD static Vec nearest_even(Vec v) {
    return _mm512_maskz_roundscale_ps(every, v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  MASE_SIMD static Vec floor(Vec v) {
    return _mm512_maskz_roundscale_ps(every, v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  MASE_SIMD static Vec trunc(Vec v) {
    return _mm512_maskz_roundscale_ps(every, v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
};

}  // namespace
}  // namespace mase::formats::kernels
