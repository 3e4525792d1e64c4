// SPDX-License-Identifier: Apache-2.0
// Takes the bits of float32 apart.
#include "base/narrowed.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace mase {
namespace {

constexpr int float_bias = 127, half_bias = 15;

std::optional<std::uint16_t> to_bfloat16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if ((bits & 0xffff) != 0) return std::nullopt;
  return static_cast<std::uint16_t>(bits >> 16);
}

std::optional<std::uint16_t> to_float16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = bits >> 31 << 15, rest = bits & 0x7fffff;
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  const auto joined = [&](std::uint32_t magnitude) {
    return static_cast<std::uint16_t>(sign | magnitude);
  };
  constexpr std::uint32_t dropped = (1 << 13) - 1;
  if (exponent == 0 && rest == 0) return joined(0);
  if (exponent == 0xff)
    return (rest & dropped) == 0 ? std::optional(joined(0x7c00 | rest >> 13)) : std::nullopt;
  const int half = exponent - float_bias + half_bias;
  if (half >= 31 || half < -9) return std::nullopt;
  if (half >= 1)
    return (rest & dropped) == 0
               ? std::optional(joined(static_cast<std::uint32_t>(half) << 10 | rest >> 13))
               : std::nullopt;
  const std::uint32_t whole = rest | 0x800000;  // a subnormal number: a multiple of 2^-24
  const int shift = 14 - half;
  if ((whole & ((std::uint32_t{1} << shift) - 1)) != 0) return std::nullopt;
  return joined(whole >> shift);
}

template <class Narrow>
bool narrow_all(std::span<const float> numbers, std::byte* out, Narrow narrow) {
  for (const float number : numbers) {
    const std::optional<std::uint16_t> bits = narrow(number);
    if (!bits) return false;
    std::memcpy(out, &*bits, sizeof *bits);
    out += sizeof *bits;
  }
  return true;
}

}  // namespace

bool narrowed(std::span<const float> numbers, DType dtype, std::byte* out) {
  switch (dtype) {
    case DType::float32:
      std::memcpy(out, numbers.data(), numbers.size_bytes());
      return true;
    case DType::bfloat16:
      return narrow_all(numbers, out, to_bfloat16);
    case DType::float16:
      return narrow_all(numbers, out, to_float16);
    default:
      MASE_CHECK(false, "numbers become float32, float16 or bfloat16");
  }
}

}  // namespace mase
