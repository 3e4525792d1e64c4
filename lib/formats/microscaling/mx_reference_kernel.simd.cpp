// SPDX-License-Identifier: Apache-2.0
// The microscaling kernels of profile reference. Every line corresponds to one of mx_reference.cpp.
#include "formats/microscaling/mx_reference_kernel.hpp"

#include "formats/block/block_loop.hpp"
#include "formats/minifloat/reference_op.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;
using Vec = Simd::Vec;
using Bits = Simd::Bits;

using Tile = Lanes<mx_reference_factor_count>;

/// `value`, or NaN in a tile that is NaN.
MASE_SIMD Vec in_tile(Vec value, const Tile& tile) {
  const Vec nothing = tile.factor[mx_reference_nothing];
  return Simd::select_less(nothing, Simd::all(1.0F), value, nothing);
}

template <bool offset>
struct MxReferenceInteger {
  static constexpr std::size_t factors = mx_reference_factor_count;
  static constexpr bool is_long = true;
  Vec high, step;

  MASE_SIMD static MxReferenceInteger of(const MxReferenceGrid& grid) {
    return {Simd::all(grid.high), Simd::all(1.0F / grid.high)};  // a power of two
  }
  MASE_SIMD Vec operator()(Vec x, const Tile& tile) const {
    const Vec scaled = Simd::div(x, tile.factor[mx_reference_down]);
    const Vec code = offset ? Simd::floor(scaled) : Simd::nearest_even(Simd::mul(scaled, high));
    const Vec low = Simd::sub(Simd::all(0.0F), high), most = Simd::sub(high, Simd::all(1.0F));
    const Vec element = clamped_floats(code, low, most);
    if constexpr (offset) return in_tile(Simd::mul(tile.factor[mx_reference_up], element), tile);
    return in_tile(Simd::mul(Simd::mul(element, step), tile.factor[mx_reference_up]), tile);
  }
};

MASE_SIMD Vec flushed(Vec v) {
  return Simd::select_less(Simd::floats(simd::magnitude_bits(v)), Simd::all(0x1p-126F),
                           Simd::all(0.0F), v);
}

struct MxReferenceMinifloat {
  static constexpr std::size_t factors = mx_reference_factor_count;
  static constexpr bool is_long = true;
  Vec to_fraction;
  Bits hidden, bias, top_code, down;  ///< down: bias + fraction_bits

  MASE_SIMD static MxReferenceMinifloat of(const MxReferenceGrid& grid) {
    return {Simd::all(grid.to_fraction), Simd::all_bits(grid.hidden), Simd::all_bits(grid.bias),
            Simd::all_bits(grid.top_code), Simd::all_bits(grid.bias + grid.fraction_bits)};
  }

  MASE_SIMD Vec operator()(Vec x, const Tile& tile) const {
    const Vec y = flushed(Simd::div(flushed(x), tile.factor[mx_reference_down]));
    const Bits magnitude = simd::magnitude_bits(y);
    const Bits sign = Simd::xor_bits(Simd::bits(y), magnitude);
    const Bits value = Simd::or_bits(Simd::bits(element(magnitude)), sign);
    return in_tile(Simd::mul(Simd::floats(value), tile.factor[mx_reference_up]), tile);
  }

 private:
  /// The value of the code that a magnitude gets.
  MASE_SIMD Vec element(Bits magnitude) const {
    const Bits zero = Simd::all_bits(0), one = Simd::all_bits(1);
    const Bits all_ones = Simd::sub_bits(hidden, one);
    const Bits found =
        Simd::add_bits(Simd::sub_bits(Simd::shift_right<23>(magnitude), Simd::all_bits(127)), bias);
    Bits k =
        Simd::select_less_bits(found, one, below_normal(fraction(magnitude)), fraction(magnitude));
    k = Simd::select_less_bits(top_code, found, all_ones, k);
    k = Simd::select_less_bits(found, zero, zero, k);
    Bits c = Simd::min_bits(top_code, Simd::max_bits(zero, found));
    // A carry is joined by OR, so it is lost when c is odd.
    c = Simd::select_less_bits(all_ones, k, Simd::or_bits(c, one), c);
    k = Simd::and_bits(k, all_ones);
    const Bits steps = Simd::select_less_bits(c, one, k, Simd::add_bits(k, hidden));
    return Simd::mul(Simd::from_integer(steps),
                     normal_power(Simd::sub_bits(Simd::max_bits(c, one), down)));
  }
  MASE_SIMD Bits fraction(Bits magnitude) const {
    const Bits field = Simd::and_bits(magnitude, Simd::all_bits(0x7fffff));
    return Simd::nearest_integer(
        Simd::mul(Simd::from_integer(Simd::shift_right<8>(field)), to_fraction));
  }
  /// The value for the exponent code 0.
  MASE_SIMD Bits below_normal(Bits k) const {
    return Simd::select_less_bits(Simd::all_bits(0), k,
                                  Simd::shift_right<1>(Simd::or_bits(k, hidden)), k);
  }
};

template <class Op>
MASE_SIMD_TARGET void on_strip(const MxReferenceGrid& grid, const Strip& strip,
                               const TileFactors& factors) {
  apply_tiles(Op::of(grid), strip, factors);
}

}  // namespace

const MxReferenceKernels MASE_KERNELS_OF(mx_reference_kernels){on_strip<MxReferenceInteger<false>>,
                                                               on_strip<MxReferenceInteger<true>>,
                                                               on_strip<MxReferenceMinifloat>};

}  // namespace mase::formats::kernels
