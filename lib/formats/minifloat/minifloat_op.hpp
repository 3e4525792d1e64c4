// SPDX-License-Identifier: Apache-2.0
// Rounds one vector to a minifloat's values (profile exact), for whole tensors and for blocks that
// have been scaled.
//
// The grid's step at a magnitude a with exponent E is 2^(E - f), where E is at least the lowest
// exponent. Adding 2^(E + 23 - f), whose last bit is worth one step, rounds a to the grid, ties to
// even; subtracting it again is exact. Its bits are those of a's exponent plus a constant.
#pragma once

#include <type_traits>

#include "formats/drawn_op.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"
#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// Fake quantization by a grid of range narrow (or overflowing); the same bits as
/// quantize_minifloat_scalar, except the payload of a NaN.
template <Rounding rounding, bool saturate = true>
struct OnMinifloatGrid {
  using Vec = Simd::Vec;
  using Bits = Simd::Bits;
  Vec limit, largest, overflow, zero;
  Bits sign, exponent, lowest, to_addend, one;

  MASE_SIMD static OnMinifloatGrid of(const MinifloatGrid& grid) {
    return {Simd::all(grid.limit),
            Simd::all(grid.largest),
            Simd::all(grid.overflow),
            Simd::all(0.0F),
            Simd::all_bits(static_cast<std::int32_t>(0x80000000)),
            Simd::all_bits(0x7f800000),
            Simd::all_bits(grid.lowest),
            Simd::all_bits(grid.to_addend),
            Simd::all_bits(1)};
  }

  static constexpr bool draws = rounding == Rounding::stochastic;

  /// `u` are the offsets of stochastic rounding; other roundings have none.
  template <class... Offset>
  MASE_SIMD Vec operator()(Vec x, Offset... u) const {
    const Bits sign_of_x = Simd::and_bits(Simd::bits(x), sign);
    // The limit is on the grid, so everything beyond it rounds to the limit.
    const Vec magnitude = Simd::min(limit, Simd::floats(Simd::xor_bits(Simd::bits(x), sign_of_x)));
    Vec value = rounded(x, magnitude, u...);
    if constexpr (!saturate) value = Simd::select_less(largest, value, overflow, value);
    return Simd::floats(Simd::or_bits(Simd::bits(value), sign_of_x));
  }

  /// A magnitude plus the addend of its exponent, rounded: their bits differ by a number of steps.
  struct Sum {
    Vec sum;
    Bits addend;
  };

  /// The magnitude of x on the grid.
  template <class... Offset>
  MASE_SIMD Vec rounded(Vec x, Vec magnitude, Offset... u) const {
    const Sum sum = summed(x, magnitude, u...);
    return Simd::sub(sum.sum, Simd::floats(sum.addend));
  }

  MASE_SIMD Sum summed(Vec x, Vec magnitude) const {
    const Bits exponents = Simd::and_bits(Simd::bits(magnitude), exponent);
    const Bits addend = Simd::add_bits(Simd::max_bits(exponents, lowest), to_addend);
    // Ties have many trailing zeros, so setting the last bit moves a tie above itself, and moves no
    // other number across a tie.
    if constexpr (rounding == Rounding::nearest_away)
      magnitude = Simd::floats(Simd::or_bits(Simd::bits(magnitude), one));
    Vec sum = Simd::add(magnitude, Simd::floats(addend));
    if constexpr (rounding == Rounding::floor)
      sum = floored(x, magnitude, sum, Simd::floats(addend));
    return {sum, addend};
  }

  /// The same for stochastic rounding, on a grid for which draws_by_addition holds.
  MASE_SIMD Sum summed(Vec x, Vec magnitude, Vec u) const {
    const Bits exponents = Simd::max_bits(Simd::and_bits(Simd::bits(magnitude), exponent), lowest);
    const Bits addend_bits = Simd::add_bits(exponents, to_addend);
    const Vec addend = Simd::floats(addend_bits);
    const Vec sum = Simd::add(magnitude, addend);
    const Vec step = Simd::floats(one);
    const Vec below = Simd::floats(Simd::sub_bits(
        Simd::bits(sum), Simd::bits(Simd::where_less(magnitude, Simd::sub(sum, addend), step))));
    // One over the step, whose exponent field is the addend's minus 23.
    const Vec per_step = Simd::floats(
        Simd::sub_bits(Simd::all_bits(static_cast<std::int32_t>(277U << 23)), addend_bits));
    const Vec part = Simd::mul(Simd::sub(magnitude, Simd::sub(below, addend)), per_step);
    const Vec next = Simd::floats(Simd::add_bits(Simd::bits(below), one));
    return {DrawnLimit::of(x, u).choose(part, next, below), addend_bits};
  }

  /// The sum, moved by one step (its last bit) when it was rounded away from minus infinity: down,
  /// or up when x is negative.
  MASE_SIMD Vec floored(Vec x, Vec magnitude, Vec sum, Vec addend) const {
    const Bits sign_of_x = Simd::and_bits(Simd::bits(x), sign);
    const Vec number = Simd::floats(Simd::or_bits(Simd::bits(magnitude), sign_of_x));
    const Vec nearest = Simd::floats(Simd::or_bits(Simd::bits(Simd::sub(sum, addend)), sign_of_x));
    const Bits step = Simd::sub_bits(Simd::shift_right<30>(sign_of_x), one);  // 1 or -1
    return Simd::floats(Simd::add_bits(
        Simd::bits(sum), Simd::bits(Simd::where_less(number, nearest, Simd::floats(step)))));
  }
};

/// The same for rounding to minus infinity in fewer operations, on grids whose step below the
/// lowest power, and its inverse, are normal numbers: magnitudes lose their low bits (negative
/// numbers are lifted first), and below the lowest power steps are counted.
struct OnFlooredMinifloatGrid {
  using Vec = Simd::Vec;
  using Bits = Simd::Bits;
  static constexpr bool draws = false;
  Vec limit, negative_limit, below_lowest, low_bits, step, per_step;
  Bits kept, magnitude;
  Bits within_step;  ///< bits of a negative number whose quotient by a step is not 0

  /// The bits of the step below the lowest power.
  static constexpr std::int32_t step_of(const MinifloatGrid& grid) {
    return grid.lowest + grid.to_addend - (23 << 23);
  }
  static bool covers(const MinifloatGrid& grid) { return step_of(grid) >= 2 << 23; }

  MASE_SIMD static OnFlooredMinifloatGrid of(const MinifloatGrid& grid) {
    const std::int32_t low_bits = (1 << (grid.to_addend >> 23)) - 1;
    const std::int32_t step = step_of(grid), per_step = (254 << 23) - step;
    return {Simd::all(grid.limit),
            Simd::all(-grid.limit),
            Simd::floats(Simd::all_bits(grid.lowest - 1)),
            Simd::floats(Simd::all_bits(low_bits)),
            Simd::floats(Simd::all_bits(step)),
            Simd::floats(Simd::all_bits(per_step)),
            Simd::all_bits(~low_bits),
            Simd::all_bits(0x7fffffff),
            Simd::all_bits((step - (1 << 23)) | INT32_MIN)};
  }
  MASE_SIMD Vec operator()(Vec x) const {
    const Vec cut = Simd::min(limit, Simd::max(negative_limit, x));
    const Bits lift = Simd::bits(Simd::where_less(cut, Simd::all(0.0F), low_bits));
    const Vec normal = Simd::floats(Simd::and_bits(Simd::add_bits(Simd::bits(cut), lift), kept));
    const Vec steps = Simd::mul(Simd::floor(Simd::mul(cut, per_step)), step);
    const Vec size = Simd::floats(Simd::and_bits(Simd::bits(cut), magnitude));
    return Simd::select_less(below_lowest, size, normal, steps);  // steps of NaN are NaN
  }
};

/// The same for any numbers, where the product with one over the step may underflow.
struct OnFlooredNumbers {
  using Vec = Simd::Vec;
  static constexpr bool draws = false;
  OnFlooredMinifloatGrid grid;
  Vec infinity, flips;

  MASE_SIMD static OnFlooredNumbers of(const MinifloatGrid& given) {
    const auto grid = OnFlooredMinifloatGrid::of(given);
    const Simd::Bits infinity = Simd::all_bits(0x7f800000);
    return {grid, Simd::floats(infinity), Simd::floats(Simd::xor_bits(infinity, grid.within_step))};
  }
  MASE_SIMD Vec operator()(Vec x) const {
    const Vec flipped = Simd::where_less(x, Simd::all(0.0F), flips);
    const Vec highest = Simd::floats(Simd::xor_bits(Simd::bits(flipped), Simd::bits(infinity)));
    return grid(Simd::min(highest, x));
  }
};

/// For values of blocks, whose grids lie in the middle of the range of float32.
template <Rounding rounding>
using OnBlockMinifloatGrid = std::conditional_t<rounding == Rounding::floor, OnFlooredMinifloatGrid,
                                                OnMinifloatGrid<rounding>>;

/// The same for a grid of range wide: magnitudes from 1 up are divided by 2^64 before they are
/// rounded, so that the addend is not infinite.
template <Rounding rounding>
struct OnWideMinifloatGrid {
  using Vec = Simd::Vec;
  static constexpr bool draws = false;
  OnMinifloatGrid<rounding> grid;
  Vec one, down, up;

  MASE_SIMD static OnWideMinifloatGrid of(const MinifloatGrid& grid) {
    return {OnMinifloatGrid<rounding>::of(grid), Simd::all(1.0F), Simd::all(0x1p-64F),
            Simd::all(0x1p64F)};
  }

  MASE_SIMD Vec operator()(Vec x) const {
    const Simd::Bits sign_of_x = Simd::and_bits(Simd::bits(x), grid.sign);
    const Vec magnitude =
        Simd::min(grid.limit, Simd::floats(Simd::xor_bits(Simd::bits(x), sign_of_x)));
    const Vec scaled = Simd::mul(magnitude, Simd::select_less(magnitude, one, one, down));
    const Vec value =
        Simd::mul(grid.rounded(x, scaled), Simd::select_less(magnitude, one, one, up));
    return Simd::floats(Simd::or_bits(Simd::bits(value), sign_of_x));
  }
};

/// The code of a value of a minifloat whose range is not `beyond`.
template <bool hidden_bit>
struct MinifloatCode {
  using Bits = Simd::Bits;
  Simd::Vec addend;
  Bits sign, lowest, addend_bits, leading_one, exponent_field, largest, infinity, infinity_code,
      nan_code;
  int fraction_shift, sign_shift;

  MASE_SIMD static MinifloatCode of(const MinifloatCodeGrid& grid) {
    return {Simd::floats(Simd::all_bits(grid.addend)),
            Simd::all_bits(static_cast<std::int32_t>(0x80000000)),
            Simd::all_bits(grid.lowest),
            Simd::all_bits(grid.addend),
            Simd::all_bits(grid.leading_one),
            Simd::all_bits(-grid.leading_one),
            Simd::all_bits(grid.largest),
            Simd::all_bits(0x7f800000),
            Simd::all_bits(grid.infinity),
            Simd::all_bits(grid.nan),
            grid.fraction_shift,
            grid.sign_shift};
  }

  MASE_SIMD Bits operator()(Simd::Vec value) const {
    const Bits sign_of_value = Simd::and_bits(Simd::bits(value), sign);
    const Bits magnitude = Simd::xor_bits(Simd::bits(value), sign_of_value);
    const Bits code =
        Simd::select_less_bits(magnitude, lowest, steps(magnitude), normal(magnitude));
    const Bits special = Simd::select_less_bits(infinity, magnitude, nan_code, infinity_code);
    return Simd::or_bits(Simd::select_less_bits(largest, magnitude, special, code),
                         Simd::shift_right_by(sign_of_value, sign_shift));
  }

  /// Below the lowest exponent the code is the number of steps.
  MASE_SIMD Bits steps(Bits magnitude) const {
    return Simd::sub_bits(Simd::bits(Simd::add(Simd::floats(magnitude), addend)), addend_bits);
  }

  MASE_SIMD Bits normal(Bits magnitude) const {
    Bits code = Simd::shift_right_by(Simd::sub_bits(magnitude, lowest), fraction_shift);
    // The exponent moves up by the bit that the leading one occupies.
    if constexpr (!hidden_bit) code = Simd::add_bits(code, Simd::and_bits(code, exponent_field));
    return Simd::add_bits(code, leading_one);
  }
};

/// Quantizes by a grid of range narrow and encodes at once: adds to the steps of the sum those
/// below its exponent, a power of two for each exponent. For formats with a hidden bit.
template <Rounding rounding>
struct MinifloatGridCode {
  using Vec = Simd::Vec;
  using Bits = Simd::Bits;
  OnMinifloatGrid<rounding> grid;
  Bits first_addend, infinity, nan_code;
  int fraction_shift, sign_shift;

  MASE_SIMD static MinifloatGridCode of(const MinifloatGrid& grid, const MinifloatCodeGrid& codes) {
    return {OnMinifloatGrid<rounding>::of(grid),
            Simd::all_bits(grid.lowest + grid.to_addend),
            Simd::all_bits(0x7f800000),
            Simd::all_bits(codes.nan),
            codes.fraction_shift,
            codes.sign_shift};
  }

  template <class... Offset>
  MASE_SIMD Bits operator()(Vec x, Offset... u) const {
    const Bits sign = Simd::and_bits(Simd::bits(x), grid.sign);
    const Bits magnitude = Simd::xor_bits(Simd::bits(x), sign);
    const Bits code = steps(x, Simd::floats(magnitude), u...);
    return signed_code(Simd::select_less_bits(infinity, magnitude, nan_code, code), sign);
  }

  /// The code of elements other than NaN.
  template <class... Offset>
  MASE_SIMD Bits of_number(Vec x, Offset... u) const {
    const Bits sign = Simd::and_bits(Simd::bits(x), grid.sign);
    return signed_code(steps(x, Simd::floats(Simd::xor_bits(Simd::bits(x), sign)), u...), sign);
  }

 private:
  template <class... Offset>
  MASE_SIMD Bits steps(Vec x, Vec magnitude, Offset... u) const {
    const auto sum = grid.summed(x, Simd::min(grid.limit, magnitude), u...);
    const Bits below =
        Simd::shift_right_by(Simd::sub_bits(sum.addend, first_addend), fraction_shift);
    return Simd::add_bits(Simd::sub_bits(Simd::bits(sum.sum), sum.addend), below);
  }
  MASE_SIMD Bits signed_code(Bits code, Bits sign) const {
    return Simd::or_bits(code, Simd::shift_right_by(sign, sign_shift));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
