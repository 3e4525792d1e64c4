// SPDX-License-Identifier: Apache-2.0
// The kernels that pack and unpack codes.
#include "formats/pack_kernel.hpp"

#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

#if MASE_SIMD_SET != 0
using simd::Simd;

using Bytes = __m256i;

#if MASE_SIMD_SET == 1
MASE_SIMD Bytes codes_at(const std::uint32_t* codes, int mask) {
  const auto* const at = reinterpret_cast<const Bytes*>(codes);
  return _mm256_and_si256(_mm256_loadu_si256(at), _mm256_set1_epi32(mask));
}
/// 16 codes of at most 16 bits. (Vectors are packed by halves; a permutation restores the order.)
MASE_SIMD Bytes pairs_of(const std::uint32_t* codes, int mask) {
  return _mm256_packus_epi32(codes_at(codes, mask), codes_at(codes + 8, mask));
}
MASE_SIMD Bytes words_of(const std::uint32_t* codes) {
  return _mm256_permute4x64_epi64(pairs_of(codes, 0xffff), 0xd8);
}
/// 32 codes of at most 8 bits.
MASE_SIMD Bytes bytes_of(const std::uint32_t* codes, int mask) {
  const Bytes bytes = _mm256_packus_epi16(pairs_of(codes, mask), pairs_of(codes + 16, mask));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}
#else
MASE_SIMD Bytes words_of(const std::uint32_t* codes) {
  return _mm512_maskz_cvtepi32_epi16(Simd::every, _mm512_loadu_si512(codes));
}
MASE_SIMD Bytes bytes_of(const std::uint32_t* codes, int mask) {
  const __m128i low = _mm512_maskz_cvtepi32_epi8(Simd::every, _mm512_loadu_si512(codes));
  const __m128i high = _mm512_maskz_cvtepi32_epi8(Simd::every, _mm512_loadu_si512(codes + 16));
  return _mm256_and_si256(_mm256_set_m128i(high, low), _mm256_set1_epi8(static_cast<char>(mask)));
}
#endif

MASE_SIMD void store(char* to, Bytes bytes) {
  _mm256_storeu_si256(reinterpret_cast<Bytes*>(to), bytes);
}

/// Packs the 16 codes of a half, one per byte, into its first 2 * bits bytes. Products with powers
/// of two move neighbours together: 2 codes in 16 bits, 4 in 32, then 8 in 64.
template <int bits>
MASE_SIMD Bytes joined(Bytes codes) {
  const Bytes twos = _mm256_maddubs_epi16(_mm256_set1_epi16(1 | 1 << (8 + bits)), codes);
  const Bytes fours = _mm256_madd_epi16(twos, _mm256_set1_epi32(1 | 1 << (16 + 2 * bits)));
  const Bytes upper = _mm256_slli_epi64(_mm256_srli_epi64(fours, 32), 4 * bits);
  const Bytes eights =
      _mm256_or_si256(_mm256_and_si256(fours, _mm256_set1_epi64x(0xffffffff)), upper);
  char place[16];
  for (int i = 0; i < 16; ++i)
    place[i] = static_cast<char>(i < bits ? i : i < 2 * bits ? 8 + i - bits : -1);
  const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(place));
  return _mm256_shuffle_epi8(eights, _mm256_broadcastsi128_si256(half));
}

template <int bits>
MASE_SIMD_TARGET void pack_bytes(const std::uint32_t* codes, std::size_t count, char* out) {
  for (std::size_t i = 0; i < count; i += pack_group, out += 4 * bits) {
    const Bytes bytes = bytes_of(codes + i, (1 << bits) - 1);
    if constexpr (bits == 8) {
      store(out, bytes);
    } else {
      const Bytes made = joined<bits>(bytes);
      auto* const to = reinterpret_cast<__m128i*>(out);
      _mm_storeu_si128(to, _mm256_castsi256_si128(made));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * bits),
                       _mm256_extracti128_si256(made, 1));
    }
  }
}

MASE_SIMD_TARGET void pack_words(const std::uint32_t* codes, std::size_t count, char* out) {
  for (std::size_t i = 0; i < count; i += 16) store(out + 2 * i, words_of(codes + i));
}

/// A code begins in lane `lane` of the words and may end in the next one.
struct Unpacking {
  Simd::Bits lane, next, right, left, mask;

  MASE_SIMD static Unpacking of(int bits) {
    std::int32_t lane[Simd::width], right[Simd::width];
    for (std::size_t i = 0; i < Simd::width; ++i) {
      lane[i] = static_cast<std::int32_t>(i) * bits / 32;
      right[i] = static_cast<std::int32_t>(i) * bits % 32;
    }
    const Simd::Bits first = Simd::load_bits(lane), shift = Simd::load_bits(right);
    return {first, Simd::add_bits(first, Simd::all_bits(1)), shift,
            Simd::sub_bits(Simd::all_bits(32), shift),
            Simd::all_bits(static_cast<std::int32_t>(0xffffffffU >> (32 - bits)))};
  }
  MASE_SIMD Simd::Bits operator()(Simd::Bits words) const {
    const Simd::Vec from = Simd::floats(words);
    const Simd::Bits low = Simd::shift_right_each(Simd::bits(Simd::picked(from, lane)), right);
    const Simd::Bits high = Simd::shift_left_each(Simd::bits(Simd::picked(from, next)), left);
    return Simd::and_bits(Simd::or_bits(low, high), mask);
  }
};

MASE_SIMD_TARGET std::size_t unpack(const char* bytes, std::size_t size, int bits,
                                    std::uint32_t* out, std::size_t count) {
  const Unpacking codes = Unpacking::of(bits);
  const std::size_t step = Simd::width * static_cast<std::size_t>(bits) / 8;
  std::size_t i = 0;
  for (std::size_t at = 0; i + Simd::width <= count && at + sizeof(Simd::Bits) <= size;
       at += step) {
    const auto* const words = reinterpret_cast<const std::int32_t*>(bytes + at);
    Simd::store_bits(reinterpret_cast<std::int32_t*>(out + i), codes(Simd::load_bits(words)));
    i += Simd::width;
  }
  return i;
}
#endif

}  // namespace

#if MASE_SIMD_SET == 0
const PackKernels MASE_KERNELS_OF(pack_kernels){};
#else
const PackKernels MASE_KERNELS_OF(pack_kernels){
    {pack_bytes<1>, pack_bytes<2>, pack_bytes<3>, pack_bytes<4>, pack_bytes<5>, pack_bytes<6>,
     pack_bytes<7>, pack_bytes<8>, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
     pack_words},
    unpack};
#endif

}  // namespace mase::formats::kernels
