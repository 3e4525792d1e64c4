// SPDX-License-Identifier: Apache-2.0
// Formats of two or three values over whole tensors.
#include "formats/low_bit/three_way_spans.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "formats/encoding.hpp"

namespace mase::formats {
namespace {

[[noreturn]] void refuse_first_nan(std::span<const float> in, std::string_view name) {
  for (std::size_t i = 0; i < in.size(); ++i)
    if (std::isnan(in[i])) refuse_nan(i, name);
  MASE_CHECK(false, "a NaN that is not there");
}

void check_scales(const ThreeWayFormat& format, const Slices& slices, const Encoded& in) {
  check_scale_count(in.scales, format.is_scaled ? slices.count : 0);
}

// Codes have two bits: a byte has a 2 where an upper bit is set and the lower bit is not.
bool has_code_two(const PackedCodes& codes) {
  unsigned found = 0, last = 0;
  for (const char byte : codes.bytes()) {
    const unsigned bits = static_cast<unsigned char>(byte);
    found |= last;
    last = (bits >> 1) & ~bits & 0x55U;
  }
  const std::size_t rest = codes.size() % 4;  // codes in the last byte, or 0 for 4 of them
  return (found | (rest == 0 ? last : last & ((1U << (2 * rest)) - 1))) != 0;
}

}  // namespace

void quantize_three_way(const ThreeWayFormat& format, const Slices& slices,
                        std::span<const float> in, std::span<float> out) {
  const auto& kernel = kernels::three_way_kernels(simd::best_isa());
  const bool stream = in.size() >= simd::streaming_count;
  for (std::size_t i = 0; i < slices.count; ++i) {
    const std::span<const float> slice = slices.of(in, i);
    kernel.quantize(format.from_elements(slice), slice.data(), slices.of(out, i).data(),
                    slice.size(), stream);
  }
  if (stream) simd::stream_fence();
}

Encoded encode_three_way(const ThreeWayFormat& format, const Slices& slices,
                         std::span<const float> in) {
  const auto& kernel = kernels::three_way_kernels(simd::best_isa());
  CodePacker packer(format.bits, in.size());
  std::vector<float> scales;
  std::array<std::uint32_t, code_piece> codes;
  for (std::size_t i = 0; i < slices.count; ++i) {
    const std::span<const float> slice = slices.of(in, i);
    const kernels::ThreeWay values = format.from_elements(slice);
    if (format.is_scaled) scales.push_back(values.high);
    for (std::size_t first = 0; first < slice.size(); first += code_piece) {
      const std::size_t count = std::min(code_piece, slice.size() - first);
      if (kernel.encode(values, slice.data() + first, codes.data(), count))
        refuse_first_nan(in, format.name);
      packer.append(std::span<const std::uint32_t>(codes.data(), count));
    }
  }
  return {packer.finish(), {}, std::move(scales)};
}

void decode_three_way(const ThreeWayFormat& format, const Slices& slices, const Encoded& in,
                      std::span<float> out) {
  check_codes(in.codes, format.bits, out.size());
  check_scales(format, slices, in);
  if (format.bits == 2 && has_code_two(in.codes))
    file_error("code 2 does not exist in the format " + std::string(format.name) +
               ", whose codes are 0, 1 and 3");
  const auto& kernel = kernels::three_way_kernels(simd::best_isa());
  std::array<std::uint32_t, code_piece> codes;
  for (std::size_t i = 0; i < slices.count; ++i) {
    const auto values = format.from_scale(format.is_scaled ? in.scales[i] : 1.0F);
    const std::span<float> slice = slices.of(out, i);
    for (std::size_t first = 0; first < slice.size(); first += code_piece) {
      const std::size_t count = std::min(code_piece, slice.size() - first);
      in.codes.unpack(i * slices.size + first, std::span(codes.data(), count));
      kernel.decode(values, codes.data(), slice.data() + first, count);
    }
  }
}

}  // namespace mase::formats
