// SPDX-License-Identifier: Apache-2.0
// The rules that choose a block's shared exponent.
#include "formats/scale_rule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.hpp"

namespace mase::formats {
namespace {

int exponent_of_double(double a) {
  int exponent = 0;
  std::frexp(a, &exponent);  // a = f * 2^exponent with f in [1/2, 1)
  return exponent - 1;
}

bool is_power_of_two(double a) { return a == std::ldexp(1.0, exponent_of_double(a)); }

// The smallest X with 2^X >= a.
int exponent_above(double a) { return exponent_of_double(a) + (is_power_of_two(a) ? 0 : 1); }

// Exact: P has 24 bits, and the addend is less than 34 binary places below P's first bit.
int even_exponent(const ElementTop& top, double p) {
  return exponent_of_double(p + std::ldexp(1.0, exponent_of_double(p) - top.mantissa_bits - 1));
}

int round_up_exponent(const ElementTop& top, double p) {
  const auto quotient = static_cast<float>(p / top.largest);
  constexpr int below_all_codes = -4096;
  return quotient == 0.0F ? below_all_codes : exponent_above(static_cast<double>(quotient));
}

}  // namespace

ScaleRule scale_rule_of(std::string_view name) {
  if (name == "floor") return ScaleRule::floor;
  if (name == "ceil") return ScaleRule::ceil;
  if (name == "even") return ScaleRule::even;
  MASE_CHECK(name == "rceil", "scale rule not checked by its field");
  return ScaleRule::rceil;
}

int exponent_of(float a) {
  const auto bits = std::bit_cast<std::uint32_t>(a);
  if (bits >= 0x00800000) return static_cast<int>(bits >> 23) - 127;
  return std::bit_width(bits) - 150;  // a subnormal is bits * 2^-149
}

int scale_exponent(ScaleRule rule, const ElementTop& top, float p) {
  switch (rule) {
    case ScaleRule::floor:
      return exponent_of(p) - top.exponent;
    case ScaleRule::ceil:
      return exponent_above(static_cast<double>(p)) - top.exponent;
    case ScaleRule::even:
      return even_exponent(top, static_cast<double>(p)) - top.exponent;
    case ScaleRule::rceil:
      return round_up_exponent(top, static_cast<double>(p));
  }
  MASE_CHECK(false, "scale rule without a definition");
}

FastExponent fast_exponent(ScaleRule rule, const ElementTop& top, int low, int high) {
  constexpr int fraction_bits = 52;
  FastExponent made{low, high};
  if (rule == ScaleRule::rceil)
    made.divisor = top.largest;
  else
    made.offset += top.exponent;
  if (rule == ScaleRule::even)
    made.carry = std::uint64_t{1} << (fraction_bits - 1 - top.mantissa_bits);
  if (rule == ScaleRule::ceil || rule == ScaleRule::rceil)
    made.carry = (std::uint64_t{1} << fraction_bits) - 1;
  return made;
}

ScaleBits scale_bits(ScaleRule rule, const ElementTop& top) {
  constexpr std::uint32_t unit = 1U << 23;
  ScaleBits bits{0, 127 + top.exponent, true};
  if (rule == ScaleRule::ceil) bits.carry = unit - 1;
  if (rule == ScaleRule::even && top.mantissa_bits < 23)
    bits.carry = unit >> (top.mantissa_bits + 1);
  if (rule == ScaleRule::rceil) {
    // P / max exceeds a power of two by at least one float32 step as soon as P's fraction is above
    // that of max, if max is a float32 number.
    const auto largest = static_cast<float>(top.largest);
    bits.any = static_cast<double>(largest) == top.largest;
    bits.carry = unit - 1 - (std::bit_cast<std::uint32_t>(largest) & (unit - 1));
  }
  return bits;
}

kernels::PowerRule power_rule(const ScaleBits& bits, int low, int high, int down, int up) {
  constexpr int least_normal = -126, most_normal = 127, bias = 127;
  constexpr std::int64_t largest_float = 0x7f7fffff;
  const int lowest = std::max(down - most_normal, least_normal - up);
  const int highest = std::min(down - least_normal, most_normal - up);
  if (!bits.any || high < lowest || low > highest) return {};
  // The lowest bits for which X is x.
  const auto start = [&](int x) {
    return (std::int64_t{x + bits.offset} << 23) - static_cast<std::int64_t>(bits.carry);
  };
  const std::int64_t least = low >= lowest ? 0 : start(lowest);
  const std::int64_t most = high <= highest ? largest_float : start(highest + 1) - 1;
  if (least > largest_float || most < ScaleBits::least) return {};
  return {static_cast<std::int32_t>(std::max(least, std::int64_t{ScaleBits::least})),
          static_cast<std::int32_t>(std::min(most, largest_float)),
          static_cast<std::int32_t>(bits.carry),
          low + bits.offset,
          high + bits.offset,
          down + bits.offset + bias,
          up - bits.offset + bias};
}

}  // namespace mase::formats
