// SPDX-License-Identifier: Apache-2.0
// The kernels that resize images. All sets give the same bytes: sums of whole numbers are exact.
#include "data/resize_kernel.hpp"

#include <cstring>

#include "simd/simd.hpp"

namespace mase::data::kernels {
namespace {

constexpr std::int32_t half = 1 << (fraction_bits - 1);

MASE_SIMD std::uint8_t pixel_of(std::int32_t sum) {
  const std::int32_t pixel = sum >> fraction_bits;
  return static_cast<std::uint8_t>(pixel < 0 ? 0 : pixel > 255 ? 255 : pixel);
}

template <int channels>
MASE_SIMD_TARGET void filter_row(const std::uint8_t* row, const RowTaps& taps, std::size_t count,
                                 std::uint8_t* to) {
  const std::int32_t* weight = taps.weights;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* from = row + static_cast<std::ptrdiff_t>(taps.first[i]) * channels;
    std::int32_t sums[channels];
    for (std::int32_t& sum : sums) sum = half;
    for (std::size_t tap = 0; tap < taps.groups * tap_group; ++tap, ++weight)
      for (int channel = 0; channel < channels; ++channel) sums[channel] += *weight * *from++;
    for (const std::int32_t sum : sums) *to++ = pixel_of(sum);
  }
}

#if MASE_SIMD_SET != 0
/// Products of 16 bits are added in pairs, so each weight comes in two halves.
MASE_SIMD_TARGET void filter_colours(const std::uint8_t* row, const RowTaps& taps,
                                     std::size_t count, std::uint8_t* to) {
  const __m256i order =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 6, -1, 9, -1, 7,
                       -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const auto* weights = reinterpret_cast<const __m256i*>(taps.halves);
  for (std::size_t i = 0; i < count; ++i, to += 3) {
    const std::uint8_t* from = row + static_cast<std::ptrdiff_t>(taps.first[i]) * 3;
    __m256i high = _mm256_setzero_si256(), low = high;
    for (std::size_t group = 0; group < taps.groups; ++group, from += 12, weights += 2) {
      const __m256i pairs = _mm256_shuffle_epi8(
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))),
          order);
      high = _mm256_add_epi32(high, _mm256_madd_epi16(pairs, _mm256_loadu_si256(weights)));
      low = _mm256_add_epi32(low, _mm256_madd_epi16(pairs, _mm256_loadu_si256(weights + 1)));
    }
    const __m256i both = _mm256_add_epi32(_mm256_slli_epi32(high, low_bits), low);
    const __m128i sums = _mm_add_epi32(
        _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1)),
        _mm_set1_epi32(half));
    const __m128i words =
        _mm_packus_epi32(_mm_srai_epi32(sums, fraction_bits), _mm_setzero_si128());
    const std::int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    std::memcpy(to, &bytes, sizeof bytes);
  }
}
#else
constexpr auto filter_colours = filter_row<3>;
#endif

MASE_SIMD_TARGET void add_rows(const std::uint8_t* rows, std::size_t size,
                               const std::int32_t* weights, std::size_t count, std::int32_t* sums,
                               std::uint8_t* to) {
  for (std::size_t i = 0; i < size; ++i) sums[i] = half;
  for (std::size_t tap = 0; tap < count; ++tap, rows += size) {
    const std::int32_t weight = weights[tap];
    for (std::size_t i = 0; i < size; ++i) sums[i] += weight * rows[i];
  }
  for (std::size_t i = 0; i < size; ++i) to[i] = pixel_of(sums[i]);
}

}  // namespace

const ResizeKernels MASE_KERNELS_OF(resize_kernels){filter_row<1>, filter_colours, add_rows};

}  // namespace mase::data::kernels
