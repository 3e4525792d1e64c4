// SPDX-License-Identifier: Apache-2.0
// Vectors of 16 floats by AVX-512F (operations: see vectors_portable.hpp).
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace mase::simd {
namespace {

struct Simd {
  using Vec = __m512;
  using Bits = __m512i;
  static constexpr std::size_t width = 16;
  static constexpr bool can_stream = true;
  // In GCC 12's headers the forms without a mask read an undefined vector, which gives a warning.
  static constexpr __mmask16 every = 0xffff;

  MASE_SIMD static Vec all(float value) { return _mm512_set1_ps(value); }
  MASE_SIMD static Vec load(const float* from) { return _mm512_loadu_ps(from); }
  MASE_SIMD static void store(float* to, Vec v) { _mm512_storeu_ps(to, v); }
  MASE_SIMD static void stream(float* to, Vec v) { _mm512_stream_ps(to, v); }
  MASE_SIMD static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  MASE_SIMD static Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  MASE_SIMD static Vec div(Vec a, Vec b) { return _mm512_div_ps(a, b); }
  MASE_SIMD static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  MASE_SIMD static Vec minus_product(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(b, c, a); }
  MASE_SIMD static Vec min(Vec a, Vec b) { return _mm512_maskz_min_ps(every, a, b); }
  MASE_SIMD static Vec max(Vec a, Vec b) { return _mm512_maskz_max_ps(every, a, b); }
  MASE_SIMD static Vec select_less(Vec a, Vec b, Vec then, Vec otherwise) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), otherwise, then);
  }
  MASE_SIMD static Vec where_less(Vec a, Vec b, Vec then) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), then);
  }
  MASE_SIMD static Vec select_signed(Vec v, Vec then, Vec otherwise) {
    return _mm512_mask_blend_ps(_mm512_cmplt_epi32_mask(bits(v), _mm512_setzero_si512()), otherwise,
                                then);
  }
  MASE_SIMD static Vec copy_sign(Vec magnitude, Vec sign) {
    // 0xca is a ? b : c for each bit: the magnitude under the mask, the sign above it.
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

  MASE_SIMD static Bits bits(Vec v) { return _mm512_castps_si512(v); }
  MASE_SIMD static Vec floats(Bits b) { return _mm512_castsi512_ps(b); }
  MASE_SIMD static Bits all_bits(std::int32_t value) { return _mm512_set1_epi32(value); }
  MASE_SIMD static Bits load_bits(const std::int32_t* from) { return _mm512_loadu_si512(from); }
  MASE_SIMD static void store_bits(std::int32_t* to, Bits b) { _mm512_storeu_si512(to, b); }
  MASE_SIMD static Bits add_bits(Bits a, Bits b) { return _mm512_add_epi32(a, b); }
  MASE_SIMD static Bits sub_bits(Bits a, Bits b) { return _mm512_sub_epi32(a, b); }
  MASE_SIMD static Bits and_bits(Bits a, Bits b) { return _mm512_and_si512(a, b); }
  MASE_SIMD static Bits or_bits(Bits a, Bits b) { return _mm512_or_si512(a, b); }
  MASE_SIMD static Bits xor_bits(Bits a, Bits b) { return _mm512_xor_si512(a, b); }
  template <int count>
  MASE_SIMD static Bits shift_left(Bits a) {
    return _mm512_maskz_slli_epi32(every, a, count);
  }
  template <int count>
  MASE_SIMD static Bits shift_right(Bits a) {
    return _mm512_maskz_srli_epi32(every, a, count);
  }
  MASE_SIMD static Bits shift_right_by(Bits a, int count) {
    return _mm512_maskz_srl_epi32(every, a, _mm_cvtsi32_si128(count));
  }
  MASE_SIMD static Bits shift_left_each(Bits a, Bits counts) {
    return _mm512_maskz_sllv_epi32(every, a, counts);
  }
  MASE_SIMD static Bits shift_right_each(Bits a, Bits counts) {
    return _mm512_maskz_srlv_epi32(every, a, counts);
  }
  MASE_SIMD static Bits min_bits(Bits a, Bits b) { return _mm512_maskz_min_epi32(every, a, b); }
  MASE_SIMD static Bits max_bits(Bits a, Bits b) { return _mm512_maskz_max_epi32(every, a, b); }
  MASE_SIMD static Bits select_less_bits(Bits a, Bits b, Bits then, Bits otherwise) {
    return _mm512_mask_blend_epi32(_mm512_cmplt_epi32_mask(a, b), otherwise, then);
  }
  MASE_SIMD static Bits nearest_integer(Vec v) { return _mm512_maskz_cvtps_epi32(every, v); }
  MASE_SIMD static Vec from_integer(Bits b) { return _mm512_maskz_cvtepi32_ps(every, b); }
  MASE_SIMD static std::int32_t largest(Bits b) {
    const __m256i eight = _mm256_max_epi32(_mm512_maskz_extracti64x4_epi64(0xf, b, 0),
                                           _mm512_maskz_extracti64x4_epi64(0xf, b, 1));
    const __m128i four =
        _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
  }
  MASE_SIMD static bool all_negative(Bits b) {
    return _mm512_cmplt_epi32_mask(b, _mm512_setzero_si512()) == every;
  }

  MASE_SIMD static Bits lanes_from(std::size_t first) {
    const Bits lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return add_bits(lanes, all_bits(static_cast<std::int32_t>(first)));
  }
  MASE_SIMD static Vec joined(Vec a, Vec b, Bits lanes) {
    return _mm512_permutex2var_ps(a, lanes, b);
  }

  MASE_SIMD static Vec picked(Vec v, Bits lanes) {
    return _mm512_maskz_permutexvar_ps(every, lanes, v);
  }

  MASE_SIMD static Vec gathered(const float* table, Bits index) {
    return _mm512_mask_i32gather_ps(all(0.0F), every, index, table, sizeof(float));
  }
  MASE_SIMD static Bits gathered(const std::int32_t* table, Bits index) {
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), every, index, table, 4);
  }

  MASE_SIMD static Bits first_pairs(Bits a, Bits b) {
    return _mm512_maskz_unpacklo_epi64(0xff, a, b);
  }
  MASE_SIMD static Bits second_pairs(Bits a, Bits b) {
    return _mm512_maskz_unpackhi_epi64(0xff, a, b);
  }

  MASE_SIMD static Bits multiply_even(Bits a, Bits b) { return _mm512_maskz_mul_epu32(0xff, a, b); }
  MASE_SIMD static Bits odd_to_even(Bits a) { return _mm512_maskz_srli_epi64(0xff, a, 32); }
  MASE_SIMD static Bits interleaved(Bits even, Bits odd) {
    return _mm512_mask_blend_epi32(0xaaaa, even, _mm512_maskz_slli_epi64(0xff, odd, 32));
  }

  struct Wide {
    __m512d low, high;
  };
  MASE_SIMD static Wide wide_all(double value) {
    return {_mm512_set1_pd(value), _mm512_set1_pd(value)};
  }
  MASE_SIMD static Wide widen(Vec v) {
    return {_mm512_maskz_cvtps_pd(0xff, half<0>(v)), _mm512_maskz_cvtps_pd(0xff, half<1>(v))};
  }
  MASE_SIMD static Vec narrow(Wide v) {
    const __m256d low = _mm256_castps_pd(_mm512_maskz_cvtpd_ps(0xff, v.low));
    const __m256d high = _mm256_castps_pd(_mm512_maskz_cvtpd_ps(0xff, v.high));
    const __m512d half = _mm512_maskz_insertf64x4(0xff, _mm512_setzero_pd(), low, 0);
    return _mm512_castpd_ps(_mm512_maskz_insertf64x4(0xff, half, high, 1));
  }
  MASE_SIMD static void store_wide(double* to, Wide v) {
    _mm512_storeu_pd(to, v.low);
    _mm512_storeu_pd(to + width / 2, v.high);
  }
  MASE_SIMD static Wide add_wide(Wide a, Wide b) {
    return {_mm512_add_pd(a.low, b.low), _mm512_add_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide sub_wide(Wide a, Wide b) {
    return {_mm512_sub_pd(a.low, b.low), _mm512_sub_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide mul_wide(Wide a, Wide b) {
    return {_mm512_mul_pd(a.low, b.low), _mm512_mul_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide div_wide(Wide a, Wide b) {
    return {_mm512_div_pd(a.low, b.low), _mm512_div_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide select_less_wide(Wide a, Wide b, Wide then, Wide otherwise) {
    return {
        _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a.low, b.low, _CMP_LT_OQ), otherwise.low, then.low),
        _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a.high, b.high, _CMP_LT_OQ), otherwise.high,
                             then.high)};
  }

  MASE_SIMD static Bits largest_of_each(const Bits (&rows)[width]) {
    return halved(halved(by_quarters(rows), by_quarters(rows + 4)),
                  halved(by_quarters(rows + 8), by_quarters(rows + 12)));
  }
  MASE_SIMD static Bits largest_of_halves(const Bits (&rows)[width / 2]) {
    const Bits halves = halved(by_quarters(rows), by_quarters(rows + 4));
    const Bits order = _mm512_set_epi32(15, 11, 14, 10, 13, 9, 12, 8, 7, 3, 6, 2, 5, 1, 4, 0);
    return bits(picked(floats(halves), order));
  }

 private:
  template <int index>
  MASE_SIMD static __m256 half(Vec v) {
    return _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xf, _mm512_castps_pd(v), index));
  }

  // The largest of each of four vectors, for every 128 bits: [a, b, c, d] four times.
  MASE_SIMD static Bits by_quarters(const Bits* v) {
    const Bits ab = max_bits(_mm512_maskz_unpacklo_epi32(every, v[0], v[1]),
                             _mm512_maskz_unpackhi_epi32(every, v[0], v[1]));
    const Bits cd = max_bits(_mm512_maskz_unpacklo_epi32(every, v[2], v[3]),
                             _mm512_maskz_unpackhi_epi32(every, v[2], v[3]));
    return max_bits(_mm512_maskz_unpacklo_epi64(0xff, ab, cd),
                    _mm512_maskz_unpackhi_epi64(0xff, ab, cd));
  }
  // Reduces neighbouring 128 bits of a, then of b, to one.
  MASE_SIMD static Bits halved(Bits a, Bits b) {
    return max_bits(_mm512_maskz_shuffle_i32x4(every, a, b, 0x88),
                    _mm512_maskz_shuffle_i32x4(every, a, b, 0xdd));
  }
};

}  // namespace
}  // namespace mase::simd
