// SPDX-License-Identifier: Apache-2.0
// The exponent that a block of elements shares, from the block's largest magnitude (formats.md,
// section 3, "Scale rule"): one definition for all block formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/field.hpp"
#include "formats/block/block_strip.hpp"
#include "formats/fast_exponent.hpp"

namespace mase::formats {

/// How the largest magnitude P of a block is scaled to the element format's largest binade.
enum class ScaleRule : std::uint8_t {
  floor,  ///< ex(P) - emax: P keeps the top binade and may saturate there
  ceil,   ///< one more unless P is a power of two
  even,   ///< floor after rounding P half-up to the element's fraction bits
  rceil,  ///< the smallest exponent with 2^X >= RN32(P / max)
};

/// The rule with this name, which a field's `one_of` has already checked.
ScaleRule scale_rule_of(std::string_view name);

/// The largest value of an element format.
struct ElementTop {
  int exponent = 0;       ///< emax, its exponent
  int mantissa_bits = 0;  ///< m, fraction bits of normal elements
  double largest = 1;     ///< max, the value itself
};

/// ex(a): the integer with 2^ex <= a < 2^(ex+1), also for subnormals. a is finite and above 0.
int exponent_of(float a);

/// X of a block before clamping to the range of its shared code. P is finite and above 0; it may be
/// subnormal. When RN32(P / max) is 0, rceil gives a number below every code range.
int scale_exponent(ScaleRule rule, const ElementTop& top, float p);

/// The same, clamped to low .. high, for loops; also for P = 0, which gives `low`.
FastExponent fast_exponent(ScaleRule rule, const ElementTop& top, int low, int high);

/// A rule as integer arithmetic on the bits u of P, for kernels: X = ((u + carry) >> 23) - offset
/// whenever covers(u).
struct ScaleBits {
  std::uint32_t carry = 0;
  int offset = 127;
  bool any = true;  ///< false when it covers nothing

  /// Bits far above those of subnormal numbers; from here on every rule equals its formula.
  static constexpr std::uint32_t least = 0x0d800000;  // 2^-100
  bool covers(std::uint32_t u) const { return any && u >= least; }
  int exponent(std::uint32_t u) const { return static_cast<int>((u + carry) >> 23) - offset; }
};
ScaleBits scale_bits(ScaleRule rule, const ElementTop& top);

/// The rule for kernels' factors 2^(down - X) and 2^(X + up), with X clamped to low .. high, as far
/// as both are normal float32 numbers.
kernels::PowerRule power_rule(const ScaleBits& bits, int low, int high, int down, int up);

/// The field `scale_rule` of a block format `Struct`.
template <class Struct>
constexpr auto scale_rule_field(std::string Struct::*member) {
  return Field{"scale_rule", member, "how a block's exponent follows from its largest magnitude"}
      .one_of("floor", "ceil", "even", "rceil");
}

}  // namespace mase::formats
