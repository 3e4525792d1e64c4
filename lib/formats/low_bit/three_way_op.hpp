// SPDX-License-Identifier: Apache-2.0
// Turns one vector into the values of a format of two or three values.
#pragma once

#include "formats/low_bit/three_way_kernel.hpp"
#include "simd/specials.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// The bits of infinity: finite magnitudes are below it as integers, NaN above.
constexpr std::int32_t infinity_bits = 0x7f800000;

template <bool keeps_nan>
struct ToValue {
  static constexpr bool draws = false;
  Simd::Vec above, below, high, mid, low;

  MASE_SIMD static ToValue of(const ThreeWay& values) {
    return {Simd::all(values.above), Simd::all(values.below), Simd::all(values.high),
            Simd::all(values.mid), Simd::all(values.low)};
  }
  MASE_SIMD Simd::Vec operator()(Simd::Vec x) const {
    const Simd::Vec value =
        Simd::select_less(above, x, high, Simd::select_less(x, below, low, mid));
    if constexpr (!keeps_nan) return value;
    return simd::unless_nan(x, value);
  }
};

/// 1 where u < (x + 1) / 2 in double, as in the definition, and 0 elsewhere.
MASE_SIMD Simd::Vec drawn_sign(Simd::Vec x, Simd::Vec u) {
  const Simd::Wide one = Simd::wide_all(1);
  const Simd::Wide sum = Simd::add_wide(Simd::widen(x), one);
  const Simd::Wide probability = Simd::mul_wide(sum, Simd::wide_all(0.5));
  return Simd::narrow(Simd::select_less_wide(Simd::widen(u), probability, one, Simd::wide_all(0)));
}

/// The value that a drawn sign stands for.
struct ToDrawnValue {
  static constexpr bool draws = true;
  ToValue<false> of_sign;

  MASE_SIMD static ToDrawnValue of(const ThreeWay& values) {
    return {ToValue<false>::of({0.5F, -1, values.high, values.mid, values.mid, false})};
  }
  MASE_SIMD Simd::Vec operator()(Simd::Vec x, Simd::Vec u) const {
    return simd::unless_nan(x, of_sign(drawn_sign(x, u)));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
