// SPDX-License-Identifier: Apache-2.0
// Vectors of 8 floats by AVX2 (operations: see vectors_portable.hpp).
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace mase::simd {
namespace {

struct Simd {
  using Vec = __m256;
  using Bits = __m256i;
  static constexpr std::size_t width = 8;
  static constexpr bool can_stream = true;

  MASE_SIMD static Vec all(float value) { return _mm256_set1_ps(value); }
  MASE_SIMD static Vec load(const float* from) { return _mm256_loadu_ps(from); }
  MASE_SIMD static void store(float* to, Vec v) { _mm256_storeu_ps(to, v); }
  MASE_SIMD static void stream(float* to, Vec v) { _mm256_stream_ps(to, v); }
  MASE_SIMD static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  MASE_SIMD static Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  MASE_SIMD static Vec div(Vec a, Vec b) { return _mm256_div_ps(a, b); }
  MASE_SIMD static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  MASE_SIMD static Vec minus_product(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(b, c, a); }
  MASE_SIMD static Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
  MASE_SIMD static Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
  MASE_SIMD static Vec select_less(Vec a, Vec b, Vec then, Vec otherwise) {
    return _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  MASE_SIMD static Vec where_less(Vec a, Vec b, Vec then) {
    return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ), then);
  }
  MASE_SIMD static Vec select_signed(Vec v, Vec then, Vec otherwise) {
    return _mm256_blendv_ps(otherwise, then, v);
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

  MASE_SIMD static Bits bits(Vec v) { return _mm256_castps_si256(v); }
  MASE_SIMD static Vec floats(Bits b) { return _mm256_castsi256_ps(b); }
  MASE_SIMD static Bits all_bits(std::int32_t value) { return _mm256_set1_epi32(value); }
  MASE_SIMD static Bits load_bits(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const Bits*>(from));
  }
  MASE_SIMD static void store_bits(std::int32_t* to, Bits b) {
    _mm256_storeu_si256(reinterpret_cast<Bits*>(to), b);
  }
  MASE_SIMD static Bits add_bits(Bits a, Bits b) { return _mm256_add_epi32(a, b); }
  MASE_SIMD static Bits sub_bits(Bits a, Bits b) { return _mm256_sub_epi32(a, b); }
  MASE_SIMD static Bits and_bits(Bits a, Bits b) { return _mm256_and_si256(a, b); }
  MASE_SIMD static Bits or_bits(Bits a, Bits b) { return _mm256_or_si256(a, b); }
  MASE_SIMD static Bits xor_bits(Bits a, Bits b) { return _mm256_xor_si256(a, b); }
  template <int count>
  MASE_SIMD static Bits shift_left(Bits a) {
    return _mm256_slli_epi32(a, count);
  }
  template <int count>
  MASE_SIMD static Bits shift_right(Bits a) {
    return _mm256_srli_epi32(a, count);
  }
  MASE_SIMD static Bits shift_right_by(Bits a, int count) { return _mm256_srli_epi32(a, count); }
  MASE_SIMD static Bits shift_left_each(Bits a, Bits counts) {
    return _mm256_sllv_epi32(a, counts);
  }
  MASE_SIMD static Bits shift_right_each(Bits a, Bits counts) {
    return _mm256_srlv_epi32(a, counts);
  }
  MASE_SIMD static Bits min_bits(Bits a, Bits b) { return _mm256_min_epi32(a, b); }
  MASE_SIMD static Bits max_bits(Bits a, Bits b) { return _mm256_max_epi32(a, b); }
  MASE_SIMD static Bits select_less_bits(Bits a, Bits b, Bits then, Bits otherwise) {
    return _mm256_blendv_epi8(otherwise, then, _mm256_cmpgt_epi32(b, a));
  }
  MASE_SIMD static Bits nearest_integer(Vec v) { return _mm256_cvtps_epi32(v); }
  MASE_SIMD static Vec from_integer(Bits b) { return _mm256_cvtepi32_ps(b); }
  MASE_SIMD static std::int32_t largest(Bits b) {
    const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
    const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
  }
  MASE_SIMD static bool all_negative(Bits b) { return _mm256_movemask_ps(floats(b)) == 0xff; }

  MASE_SIMD static Bits lanes_from(std::size_t first) {
    const Bits lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    return add_bits(lanes, all_bits(static_cast<std::int32_t>(first)));
  }
  MASE_SIMD static Vec joined(Vec a, Vec b, Bits lanes) {
    const Bits from_b = _mm256_cmpgt_epi32(lanes, all_bits(7));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(a, lanes), _mm256_permutevar8x32_ps(b, lanes),
                            floats(from_b));
  }

  MASE_SIMD static Vec picked(Vec v, Bits lanes) { return _mm256_permutevar8x32_ps(v, lanes); }

  MASE_SIMD static Vec gathered(const float* table, Bits index) {
    const Vec every = floats(all_bits(-1));
    return _mm256_mask_i32gather_ps(every, table, index, every, sizeof(float));
  }
  MASE_SIMD static Bits gathered(const std::int32_t* table, Bits index) {
    return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), table, index, all_bits(-1), 4);
  }

  MASE_SIMD static Bits first_pairs(Bits a, Bits b) { return _mm256_unpacklo_epi64(a, b); }
  MASE_SIMD static Bits second_pairs(Bits a, Bits b) { return _mm256_unpackhi_epi64(a, b); }

  MASE_SIMD static Bits multiply_even(Bits a, Bits b) { return _mm256_mul_epu32(a, b); }
  // Uses shuffles, since one unit fewer executes shifts.
  MASE_SIMD static Bits odd_to_even(Bits a) { return _mm256_shuffle_epi32(a, 0xf5); }
  MASE_SIMD static Bits interleaved(Bits even, Bits odd) {
    return _mm256_blend_epi32(even, _mm256_shuffle_epi32(odd, 0xa0), 0xaa);
  }

  struct Wide {
    __m256d low, high;
  };
  MASE_SIMD static Wide wide_all(double value) {
    return {_mm256_set1_pd(value), _mm256_set1_pd(value)};
  }
  MASE_SIMD static Wide widen(Vec v) {
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
            _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
  }
  MASE_SIMD static Vec narrow(Wide v) {
    return _mm256_set_m128(_mm256_cvtpd_ps(v.high), _mm256_cvtpd_ps(v.low));
  }
  MASE_SIMD static void store_wide(double* to, Wide v) {
    _mm256_storeu_pd(to, v.low);
    _mm256_storeu_pd(to + width / 2, v.high);
  }
  MASE_SIMD static Wide add_wide(Wide a, Wide b) {
    return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide sub_wide(Wide a, Wide b) {
    return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide mul_wide(Wide a, Wide b) {
    return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide div_wide(Wide a, Wide b) {
    return {_mm256_div_pd(a.low, b.low), _mm256_div_pd(a.high, b.high)};
  }
  MASE_SIMD static Wide select_less_wide(Wide a, Wide b, Wide then, Wide otherwise) {
    return {_mm256_blendv_pd(otherwise.low, then.low, _mm256_cmp_pd(a.low, b.low, _CMP_LT_OQ)),
            _mm256_blendv_pd(otherwise.high, then.high, _mm256_cmp_pd(a.high, b.high, _CMP_LT_OQ))};
  }

  MASE_SIMD static Bits largest_of_each(const Bits (&rows)[width]) {
    const Bits first = by_halves(rows), second = by_halves(rows + 4);
    return max_bits(_mm256_permute2x128_si256(first, second, 0x20),
                    _mm256_permute2x128_si256(first, second, 0x31));
  }
  MASE_SIMD static Bits largest_of_halves(const Bits (&rows)[width / 2]) {
    const Bits order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    return bits(picked(floats(by_halves(rows)), order));
  }

 private:
  // The largest of each of four vectors, for every 128 bits: [a, b, c, d] twice.
  MASE_SIMD static Bits by_halves(const Bits* v) {
    const Bits ab = max_bits(_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[0], v[1]));
    const Bits cd = max_bits(_mm256_unpacklo_epi32(v[2], v[3]), _mm256_unpackhi_epi32(v[2], v[3]));
    return max_bits(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  }
};

}  // namespace
}  // namespace mase::simd
