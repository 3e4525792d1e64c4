// Vectors of 8 floats by AVX2 (operations: see simd_portable.hpp).
#pragma once

#include <immintrin.h>

#include <cstddef>

#define MASE_SIMD_TARGET __attribute__((target("avx2")))
#define MASE_SIMD MASE_SIMD_TARGET inline __attribute__((always_inline))

namespace mase::formats::kernels {
namespace {

struct Simd {
  using Vec = __m256;
  static constexpr std::size_t width = 8;
  static constexpr bool can_stream = true;

  MASE_SIMD static Vec all(float value) { return _mm256_set1_ps(value); }
  MASE_SIMD static Vec load(const float* from) { return _mm256_loadu_ps(from); }
  MASE_SIMD static void store(float* to, Vec v) { _mm256_storeu_ps(to, v); }
  MASE_SIMD static void stream(float* to, Vec v) { _mm256_stream_ps(to, v); }
  MASE_SIMD static void fence() { _mm_sfence(); }
  MASE_SIMD static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  MASE_SIMD static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  MASE_SIMD static Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
  MASE_SIMD static Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
  MASE_SIMD static Vec select_less(Vec a, Vec b, Vec then, Vec otherwise) {
    return _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  MASE_SIMD static Vec copy_sign(Vec magnitude, Vec sign) {
    const Vec sign_bit = _mm256_set1_ps(-0.0F);
    return _mm256_or_ps(_mm256_andnot_ps(sign_bit, magnitude), _mm256_and_ps(sign_bit, sign));
  }
  MASE_SIMD static Vec nearest_even(Vec v) {
    return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  MASE_SIMD static Vec floor(Vec v) {
    return _mm256_round_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  MASE_SIMD static Vec trunc(Vec v) {
    return _mm256_round_ps(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
};

}  // namespace
}  // namespace mase::formats::kernels
