// SPDX-License-Identifier: Apache-2.0
// The reference system's microscaling formats: every line is one float32 operation of it.
#include "formats/microscaling/mx_reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {
namespace {

float scale_of(int exponent) { return std::ldexp(1.0F, exponent); }

int top_exponent(const MinifloatSpec& element) {
  return (1 << element.exponent_width) - 1 - element.exponent_bias;
}

std::optional<int> integer_exponent(const MxSpec& spec, float p) {
  if (std::isnan(p)) return std::nullopt;
  if (spec.scale == MxScale::offset)
    return std::clamp(ceiled_log2()(p) - spec.bias(), spec.lowest_exponent(),
                      spec.highest_exponent());
  if (std::isinf(p)) return std::nullopt;
  return ceiled_log2()(std::max(p, 0x1p-126F));
}

float flushed(float v) { return std::abs(v) < 0x1p-126F ? 0.0F : v; }

// The fraction field rounded to `bits` bits: 2^bits is a carry. The lowest 8 bits are dropped
// first.
std::uint32_t rounded_fraction(std::uint32_t field, int bits) {
  return static_cast<std::uint32_t>(
      std::nearbyint(std::ldexp(static_cast<float>(field >> 8), bits - 15)));
}

}  // namespace

std::optional<int> reference_mx_exponent(const MxSpec& spec, float p) {
  if (!spec.minifloat) return integer_exponent(spec, p);
  if (!std::isfinite(p)) return std::nullopt;
  return std::clamp(floored_log2()(flushed(p)) - top_exponent(*spec.minifloat), -127, 128);
}

int reference_mx_stored(const MxSpec& spec, int exponent) {
  if (spec.minifloat || spec.scale == MxScale::offset) return exponent;
  return std::clamp(exponent + spec.bias(), 0, static_cast<int>(spec.nan_code())) - spec.bias();
}

float reference_mx_integer(const MxSpec& spec, float x, int exponent) {
  const float high = std::ldexp(1.0F, spec.width - 1);
  const float scaled = x / scale_of(exponent);
  const float code =
      spec.scale == MxScale::offset ? std::floor(scaled) : std::nearbyint(scaled * high);
  return std::clamp(code, -high, high - 1.0F);
}

float reference_mx_integer_value(const MxSpec& spec, float element, int stored) {
  const float scale = scale_of(stored);
  if (spec.scale == MxScale::offset) return scale * element;
  return element / std::ldexp(1.0F, spec.width - 1) * scale;
}

std::uint32_t reference_mx_minifloat(const MxSpec& spec, float x, int exponent) {
  const MinifloatSpec& element = *spec.minifloat;
  const int fraction_bits = element.mantissa_bits();
  const float y = flushed(flushed(x) / scale_of(exponent));
  if (y == 0.0F) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(std::abs(y));
  const int ex = static_cast<int>(bits >> 23) - 127;
  const std::uint32_t hidden = std::uint32_t{1} << fraction_bits;
  int c = ex + element.exponent_bias;
  std::uint32_t k = rounded_fraction(bits & 0x7fffff, fraction_bits);
  if (c == 0 && k != 0) k = (k | hidden) >> 1;
  if (ex > top_exponent(element)) {
    c = (1 << element.exponent_width) - 1;
    k = hidden - 1;
  }
  if (c < 0) c = static_cast<int>(k = 0);
  // OR, not a sum: a carry is lost where c is odd.
  const std::uint32_t magnitude = (static_cast<std::uint32_t>(c) << fraction_bits) | k;
  return magnitude | (y < 0.0F ? std::uint32_t{1} << (element.width - 1) : 0U);
}

float reference_mx_minifloat_value(const MxSpec& spec, std::uint32_t element, int stored) {
  MinifloatSpec numbers = *spec.minifloat;
  numbers.specials = Specials::none;
  return static_cast<float>(minifloat_value(numbers, element)) * scale_of(stored);
}

}  // namespace mase::formats
