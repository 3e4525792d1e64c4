// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding to minifloats whose sums with an addend do not fit float32 (bfloat16). It
// works on the bit patterns of magnitudes, whose low bits are the part of a step.
#pragma once

#include "formats/drawn_op.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"
#include "simd/simd.hpp"
#include "simd/specials.hpp"

namespace mase::formats::kernels {
namespace {

/// 2^exponent in two factors, which can represent the power of every step.
struct TwoFactors {
  simd::Simd::Vec first, second;

  MASE_SIMD static TwoFactors of(int exponent) {
    using simd::Simd;
    const int half = exponent / 2;
    return {Simd::floats(Simd::all_bits((half + 127) << 23)),
            Simd::floats(Simd::all_bits((exponent - half + 127) << 23))};
  }
  MASE_SIMD simd::Simd::Vec times(simd::Simd::Vec v) const {
    return simd::Simd::mul(simd::Simd::mul(v, first), second);
  }
};

/// Rounds to a grid for which draws_in_bits holds; the same bits as quantize_minifloat_scalar.
template <bool saturate>
struct DrawnInBits {
  using Vec = simd::Simd::Vec;
  using Bits = simd::Simd::Bits;
  using Simd = simd::Simd;
  static constexpr bool draws = true;
  Vec limit, largest, overflow, per_step;
  Bits lowest, low_bits;
  TwoFactors steps_per_one, step;  ///< for numbers below the lowest power, where steps are equal

  MASE_SIMD static DrawnInBits of(const MinifloatGrid& grid) {
    const int low = grid.to_addend >> 23;
    const int step = (grid.lowest >> 23) - 127 - (23 - low);
    return {Simd::all(grid.limit),       Simd::all(grid.largest),
            Simd::all(grid.overflow),    Simd::floats(Simd::all_bits((127 - low) << 23)),
            Simd::all_bits(grid.lowest), Simd::all_bits((1 << low) - 1),
            TwoFactors::of(-step),       TwoFactors::of(step)};
  }

  MASE_SIMD Vec operator()(Vec x, Vec u) const {
    // The limit is on the grid, so everything beyond it rounds to the limit.
    const Vec magnitude = Simd::min(limit, Simd::floats(simd::magnitude_bits(x)));
    const DrawnLimit above = DrawnLimit::of(x, u);
    Vec value = Simd::floats(Simd::select_less_bits(Simd::bits(magnitude), lowest,
                                                    Simd::bits(in_steps(magnitude, above)),
                                                    Simd::bits(in_bits(magnitude, above))));
    if constexpr (!saturate) value = Simd::select_less(largest, value, overflow, value);
    return simd::unless_nan(x, Simd::copy_sign(value, x));
  }

 private:
  /// For numbers from the lowest power up: one more step carries into the exponent.
  MASE_SIMD Vec in_bits(Vec magnitude, const DrawnLimit& above) const {
    const Bits rest = Simd::and_bits(Simd::bits(magnitude), low_bits);
    const Bits below = Simd::sub_bits(Simd::bits(magnitude), rest);
    const Bits next = Simd::add_bits(Simd::add_bits(below, low_bits), Simd::all_bits(1));
    const Vec part = Simd::mul(Simd::from_integer(rest), per_step);
    return above.choose(part, Simd::floats(next), Simd::floats(below));
  }
  MASE_SIMD Vec in_steps(Vec magnitude, const DrawnLimit& above) const {
    const Vec steps = steps_per_one.times(magnitude);
    const Vec n = Simd::trunc(steps);
    return step.times(above.choose(Simd::sub(steps, n), Simd::add(n, Simd::all(1.0F)), n));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
