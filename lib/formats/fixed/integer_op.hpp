// SPDX-License-Identifier: Apache-2.0
// Rounds one vector to an integer grid.
#pragma once

#include "formats/fixed/integer_kernel.hpp"
#include "formats/rounding.hpp"
#include "simd/wide_rounding.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// The grid's numbers in every lane, and the quantization of one vector.
template <Rounding rounding, Profile profile>
struct OnIntegerGrid {
  using Vec = Simd::Vec;
  static constexpr bool draws = false;
  Vec scale, step, low, high, zero, minus_one, half_below;

  MASE_SIMD static OnIntegerGrid of(const IntegerGrid& grid) {
    return {Simd::all(grid.scale),    Simd::all(grid.step), Simd::all(grid.low),
            Simd::all(grid.high),     Simd::all(0.0F),      Simd::all(-1.0F),
            Simd::all(0x1.fffffep-2F)};
  }

  MASE_SIMD Vec operator()(Vec x) const {
    const Vec value = Simd::mul(code(x), step);
    return profile == Profile::exact ? Simd::add(value, zero) : value;  // -0 + 0 = +0
  }

  MASE_SIMD Vec code(Vec x) const {
    return Simd::min(high, Simd::max(low, rounded(x, Simd::mul(x, scale))));
  }

  MASE_SIMD Vec rounded(Vec x, Vec scaled) const {
    if constexpr (rounding == Rounding::nearest_even) return Simd::nearest_even(scaled);
    // Added to the number just below 1/2, a fraction of 1/2 (a tie that rounds up) reaches 1, and
    // smaller fractions do not.
    if constexpr (rounding == Rounding::nearest_away)
      return Simd::trunc(Simd::add(scaled, Simd::copy_sign(half_below, scaled)));
    const Vec floored = Simd::floor(scaled);
    if constexpr (profile == Profile::reference) return floored;
    // A negative x floors to -1 or less, even when its product has underflowed to -0.
    return Simd::select_less(x, zero, Simd::min(minus_one, floored), floored);
  }
};

/// floor(x * scale + u) in double, as in the definition. Rounding a code above the limit to float32
/// before clamping gives the limit, as explained at IntegerGrid.
struct OnStochasticGrid {
  static constexpr bool draws = true;
  Simd::Wide scale;
  Simd::Vec step, low, high;

  MASE_SIMD static OnStochasticGrid of(const IntegerGrid& grid) {
    return {Simd::wide_all(grid.scale), Simd::all(grid.step), Simd::all(grid.low),
            Simd::all(grid.high)};
  }
  MASE_SIMD Simd::Vec code(Simd::Vec x, Simd::Vec u) const {
    const Simd::Wide scaled = Simd::mul_wide(Simd::widen(x), scale);
    const Simd::Wide rounded = simd::floor_wide(Simd::add_wide(scaled, Simd::widen(u)));
    return Simd::min(high, Simd::max(low, Simd::narrow(rounded)));
  }
  MASE_SIMD Simd::Vec operator()(Simd::Vec x, Simd::Vec u) const {
    return Simd::add(Simd::mul(code(x, u), step), Simd::all(0.0F));  // -0 + 0 = +0
  }
};

}  // namespace
}  // namespace mase::formats::kernels
