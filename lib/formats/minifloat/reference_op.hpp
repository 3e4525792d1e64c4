// SPDX-License-Identifier: Apache-2.0
// The reference system's float32 operations on vectors, each as in the definitions, which its
// minifloats, powers of two and blocks share.
#pragma once

#include "formats/minifloat/reference_kernel.hpp"
#include "formats/minifloat/reference_log2.hpp"
#include "simd/specials.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// RoundedLog2 of positive numbers, given by their bits: of normal numbers, with `less` = 127, or
/// of other numbers times 2^lift, with `less` = 127 + lift. `other` is 0 in lanes with other
/// numbers, and negative in the rest.
MASE_SIMD Simd::Bits carried_exponent(const std::int32_t* carries, Simd::Bits bits, Simd::Bits less,
                                      Simd::Bits other) {
  // Negative before the first and after the last of the fractions without the common carry.
  const Simd::Bits from_first = Simd::sub_bits(Simd::and_bits(bits, Simd::all_bits(0x7fffff)),
                                               Simd::all_bits(carries[RoundedLog2::first]));
  const Simd::Bits to_last =
      Simd::sub_bits(Simd::all_bits(carries[RoundedLog2::window] - 1), from_first);
  Simd::Bits carry = Simd::all_bits(carries[RoundedLog2::common]);
  if (!Simd::all_negative(Simd::max_bits(other, Simd::min_bits(from_first, to_last)))) {
    const Simd::Bits exponent = Simd::sub_bits(Simd::shift_right<23>(bits), less);
    const Simd::Bits binade = Simd::sub_bits(exponent, Simd::all_bits(RoundedLog2::lowest));
    carry = Simd::gathered(carries, Simd::max_bits(Simd::all_bits(0), binade));
  }
  return Simd::sub_bits(Simd::shift_right<23>(Simd::add_bits(bits, carry)), less);
}

/// RoundedLog2 of every lane; lanes are normal or infinite, and the results for NaN unspecified.
MASE_SIMD Simd::Bits rounded_log2_of_normal(const std::int32_t* carries, Simd::Vec v) {
  const Simd::Bits bits = Simd::bits(v);
  return Simd::select_less_bits(
      Simd::all_bits(0x7f7fffff), bits, Simd::all_bits(RoundedLog2::of_infinity),
      carried_exponent(carries, bits, Simd::all_bits(127), Simd::all_bits(-1)));
}

/// The same for lanes with any numbers.
MASE_SIMD Simd::Bits rounded_log2(const std::int32_t* carries, Simd::Vec v) {
  using Log2 = RoundedLog2;
  const Simd::Bits bits = Simd::bits(v), normal = Simd::all_bits(0x00800000);
  const Simd::Bits lifted = Simd::bits(Simd::mul(v, Simd::all(0x1p24F)));
  const Simd::Bits exponent = carried_exponent(
      carries, Simd::select_less_bits(bits, normal, lifted, bits),
      Simd::select_less_bits(bits, normal, Simd::all_bits(127 + Log2::lift), Simd::all_bits(127)),
      Simd::select_less_bits(bits, normal, Simd::all_bits(0), Simd::all_bits(-1)));
  const Simd::Bits above_zero =
      Simd::select_less_bits(bits, Simd::all_bits(1), Simd::all_bits(Log2::of_zero), exponent);
  return Simd::select_less_bits(Simd::all_bits(0x7f7fffff), bits, Simd::all_bits(Log2::of_infinity),
                                above_zero);
}

MASE_SIMD Simd::Bits clamped_bits(Simd::Bits v, Simd::Bits low, Simd::Bits high) {
  return Simd::min_bits(high, Simd::max_bits(low, v));
}

MASE_SIMD Simd::Vec clamped_floats(Simd::Vec v, Simd::Vec low, Simd::Vec high) {
  return Simd::min(high, Simd::max(low, v));
}

/// 2^exponent for exponents of normal numbers.
MASE_SIMD Simd::Vec normal_power(Simd::Bits exponent) {
  return Simd::floats(Simd::shift_left<23>(Simd::add_bits(exponent, Simd::all_bits(127))));
}

/// 2^exponent in float32, or 0 or infinity beyond its range: a product of two powers, the first of
/// which is as near as possible.
MASE_SIMD Simd::Vec power_of(Simd::Bits exponent) {
  const Simd::Bits lowest = Simd::all_bits(-126), highest = Simd::all_bits(127);
  const Simd::Bits first = clamped_bits(exponent, lowest, highest);
  const Simd::Bits rest = clamped_bits(Simd::sub_bits(exponent, first), lowest, highest);
  return Simd::mul(normal_power(first), normal_power(rest));
}

/// The sign of x + lift: 1, 0 or -1.
MASE_SIMD Simd::Vec lifted_sign(Simd::Vec x, Simd::Vec lift) {
  const Simd::Vec lifted = Simd::add(x, lift), zero = Simd::all(0.0F);
  return Simd::select_less(zero, lifted, Simd::all(1.0F),
                           Simd::select_less(lifted, zero, Simd::all(-1.0F), zero));
}

/// reference_mix; x must not be NaN.
MASE_SIMD Simd::Vec mixed(Simd::Vec x, Simd::Vec q) {
  const Simd::Vec one = Simd::all(1.0F), zero = Simd::all(0.0F);
  const Simd::Vec magnitude = Simd::floats(simd::magnitude_bits(x));
  const Simd::Vec kept = Simd::select_less(Simd::all(reference_tiny), magnitude, zero, one);
  return Simd::add(Simd::mul(Simd::sub(one, kept), q), Simd::mul(kept, x));
}

/// clamp(rne(scaled), 0, unit - 1), before it is divided by `unit`.
MASE_SIMD Simd::Vec whole_units(Simd::Vec scaled, Simd::Vec unit) {
  const Simd::Vec most = Simd::sub(unit, Simd::all(1.0F));
  return clamped_floats(Simd::nearest_even(scaled), Simd::all(0.0F), most);
}

/// The reference's minifloat with exponents `low` .. `high`, for numbers other than NaN. (Its
/// divisors are powers of two, so products with their inverses are the same.)
template <bool hidden_bit>
struct OnReferenceMinifloat {
  const std::int32_t* carries;
  Simd::Vec unit, step;

  MASE_SIMD static OnReferenceMinifloat of(const std::int32_t* carries, float unit) {
    return {carries, Simd::all(unit), Simd::all(1.0F / unit)};
  }
  MASE_SIMD Simd::Vec operator()(Simd::Vec x, Simd::Bits low, Simd::Bits high) const {
    const Simd::Vec epsilon = Simd::all(reference_epsilon);
    const Simd::Vec magnitude = Simd::floats(simd::magnitude_bits(x));
    const Simd::Bits exponent =
        clamped_bits(rounded_log2_of_normal(carries, Simd::add(magnitude, epsilon)), low, high);
    const Simd::Vec power = power_of(exponent);
    const Simd::Vec scaled = Simd::mul(Simd::div(magnitude, power), unit);
    const Simd::Vec found = significand(scaled, Simd::sub_bits(exponent, low));
    return mixed(x, Simd::mul(Simd::mul(lifted_sign(x, epsilon), power), found));
  }

 private:
  MASE_SIMD Simd::Vec fraction(Simd::Vec scaled) const {
    return Simd::mul(whole_units(scaled, unit), step);
  }
  /// `above` is the exponent minus the lowest one, at which fractions are twice as large.
  MASE_SIMD Simd::Vec significand(Simd::Vec scaled, Simd::Bits above) const {
    if constexpr (!hidden_bit) return fraction(scaled);
    const Simd::Vec half = Simd::mul(scaled, Simd::all(0.5F));
    const Simd::Vec part = fraction(select_first(above, half, Simd::sub(scaled, unit)));
    return select_first(above, Simd::mul(Simd::all(2.0F), part), Simd::add(Simd::all(1.0F), part));
  }
  /// `then` where `above` is 0, and `otherwise` elsewhere.
  MASE_SIMD static Simd::Vec select_first(Simd::Bits above, Simd::Vec then, Simd::Vec otherwise) {
    return Simd::floats(
        Simd::select_less_bits(above, Simd::all_bits(1), Simd::bits(then), Simd::bits(otherwise)));
  }
};

/// The reference's power of two with exponents `low` .. `high`, for numbers other than NaN.
struct OnReferenceLog {
  const std::int32_t* carries;

  MASE_SIMD Simd::Vec operator()(Simd::Vec x, Simd::Vec zeta, Simd::Bits low,
                                 Simd::Bits high) const {
    const Simd::Vec lifted = Simd::add(Simd::floats(simd::magnitude_bits(x)), zeta);
    const Simd::Bits exponent = clamped_bits(rounded_log2(carries, lifted), low, high);
    return Simd::mul(lifted_sign(x, zeta), power_of(exponent));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
