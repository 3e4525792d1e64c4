// SPDX-License-Identifier: Apache-2.0
// The reference system's microscaling formats: every line is one of its float32 operations.
#include "formats/microscaling/mx_reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "formats/minifloat/reference_log2.hpp"

namespace mase::formats {
namespace {

constexpr int any_exponent = 1 << 16;  // beyond all exponents

float scale_of(int exponent) { return std::ldexp(1.0F, exponent); }

int top_exponent(const MinifloatSpec& element) {
  return (1 << element.exponent_width) - 1 - element.exponent_bias;
}

float flushed(float v) { return std::abs(v) < 0x1p-126F ? 0.0F : v; }

// The fraction field rounded to `bits` bits: 2^bits is a carry. The lowest 8 bits are dropped
// first.
std::uint32_t rounded_fraction(std::uint32_t field, int bits) {
  return static_cast<std::uint32_t>(
      std::nearbyint(std::ldexp(static_cast<float>(field >> 8), bits - 15)));
}

}  // namespace

ReferenceMxExponent::ReferenceMxExponent(const MxSpec& spec)
    : log2_(spec.minifloat ? floored_log2() : ceiled_log2()),
      largest_(std::numeric_limits<float>::max()),
      smallest_(0x1p-126F),
      replaced_(0x1p-126F),
      less_(0),
      low_(-any_exponent),
      high_(any_exponent),
      lowest_stored_(-any_exponent),
      highest_stored_(any_exponent) {
  if (spec.minifloat) {
    replaced_ = 0;
    less_ = top_exponent(*spec.minifloat);
    low_ = -127;
    high_ = 128;
  } else if (spec.scale == MxScale::offset) {
    largest_ = std::numeric_limits<float>::infinity();
    smallest_ = 0;
    less_ = spec.bias();
    low_ = spec.lowest_exponent();
    high_ = spec.highest_exponent();
  } else {
    lowest_stored_ = -spec.bias();
    highest_stored_ = static_cast<int>(spec.nan_code()) - spec.bias();
  }
}

std::optional<int> reference_mx_exponent(const MxSpec& spec, float p) {
  return ReferenceMxExponent(spec).of(p);
}

int reference_mx_stored(const MxSpec& spec, int exponent) {
  return ReferenceMxExponent(spec).stored(exponent);
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
  // Uses OR instead of a sum: a carry is lost when c is odd.
  const std::uint32_t magnitude = (static_cast<std::uint32_t>(c) << fraction_bits) | k;
  return magnitude | (y < 0.0F ? std::uint32_t{1} << (element.width - 1) : 0U);
}

float reference_mx_minifloat_value(const MxSpec& spec, std::uint32_t element, int stored) {
  MinifloatSpec numbers = *spec.minifloat;
  numbers.specials = Specials::none;
  return static_cast<float>(minifloat_value(numbers, element)) * scale_of(stored);
}

}  // namespace mase::formats
