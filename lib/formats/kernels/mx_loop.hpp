// The microscaling kernels in terms of Simd: one text for all instruction sets. Included by
// mx_<set>.cpp after its simd_*.hpp.
#pragma once

#include <limits>

#include "formats/kernels/block_loop.hpp"
#include "formats/kernels/minifloat_op.hpp"
#include "formats/kernels/mx_kernel.hpp"

namespace mase::formats::kernels {
namespace {

/// x times a tile's first factor. The product is exact unless it underflows, which only `floor`
/// sees: it takes any negative x to below 0.
template <Rounding rounding>
MASE_SIMD Simd::Vec scaled_down(Simd::Vec x, Simd::Vec factor) {
  const Simd::Vec scaled = Simd::mul(x, factor);
  if constexpr (rounding != Rounding::floor) return scaled;
  return Simd::select_less(x, Simd::all(0.0F), Simd::min(Simd::all(-0x1p-126F), scaled), scaled);
}

/// 0 in tiles that are NaN.
MASE_SIMD Simd::Vec code_in_tile(Simd::Bits code, Simd::Vec up) {
  const Simd::Vec infinity = Simd::all(std::numeric_limits<float>::infinity());
  return Simd::select_less(up, infinity, Simd::floats(code), Simd::all(0.0F));
}

template <Rounding rounding, bool encodes>
struct OnMxInteger {
  static constexpr std::size_t factors = mx_factor_count;
  using Vec = Simd::Vec;
  Vec to_integer, low, high;
  Simd::Bits code_mask;

  MASE_SIMD static OnMxInteger of(const MxGrid& grid) {
    return {Simd::all(grid.to_integer), Simd::all(-grid.limit), Simd::all(grid.limit),
            Simd::all_bits(grid.code_mask)};
  }

  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile) const {
    const Vec scaled = Simd::mul(scaled_down<rounding>(x, tile.factor[mx_down]), to_integer);
    const Vec element = Simd::min(high, Simd::max(low, rounded(scaled)));
    const Vec up = tile.factor[mx_up];
    if constexpr (encodes)
      return code_in_tile(Simd::and_bits(Simd::nearest_integer(element), code_mask), up);
    return Simd::add(Simd::mul(element, up), Simd::all(0.0F));  // -0 + 0 = +0
  }

  MASE_SIMD static Vec rounded(Vec scaled) {
    if constexpr (rounding == Rounding::nearest_even) return Simd::nearest_even(scaled);
    if constexpr (rounding == Rounding::floor) return Simd::floor(scaled);
    // The sum with the number just below 1/2 reaches 1 for a fraction of 1/2 and for no smaller
    // one.
    return Simd::trunc(Simd::add(scaled, Simd::copy_sign(Simd::all(0x1.fffffep-2F), scaled)));
  }
};

template <Rounding rounding, bool encodes>
struct OnMxMinifloat {
  static constexpr std::size_t factors = mx_factor_count;
  using Vec = Simd::Vec;
  OnMinifloatGrid<rounding> elements;
  MinifloatCode<true> codes;

  MASE_SIMD static OnMxMinifloat of(const MxGrid& grid) {
    return {OnMinifloatGrid<rounding>::of(grid.minifloat),
            MinifloatCode<true>::of(grid.minifloat_codes)};
  }

  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile) const {
    const Vec element = elements(scaled_down<rounding>(x, tile.factor[mx_down]));
    const Vec up = tile.factor[mx_up];
    if constexpr (encodes) return code_in_tile(codes(element), up);
    return Simd::mul(element, up);
  }
};

template <class Op>
MASE_SIMD_TARGET void run_mx(const MxGrid& grid, const Strip& strip, const TileFactors& factors) {
  apply_tiles(Op::of(grid), strip, factors);
}

template <template <Rounding, bool> class Op, bool encodes>
MxKernel mx_kernel_of(Rounding rounding) {
  if (rounding == Rounding::floor) return run_mx<Op<Rounding::floor, encodes>>;
  if (rounding == Rounding::nearest_away) return run_mx<Op<Rounding::nearest_away, encodes>>;
  return run_mx<Op<Rounding::nearest_even, encodes>>;
}

/// Every line is a line of nvfp4_block_scale or nvfp4_factors.
MASE_SIMD_TARGET void nvfp4_blocks(float tensor_scale, std::size_t count, float* down, float* up) {
  using Vec = Simd::Vec;
  using Bits = Simd::Bits;
  const Vec t = Simd::all(tensor_scale), inverse = Simd::all(1.0F / tensor_scale);
  const Vec six = Simd::all(6.0F), low = Simd::all(0x1p-6F), high = Simd::all(448.0F);
  const Bits half = Simd::all_bits(0x7ffff), one = Simd::all_bits(1);
  const Bits kept = Simd::all_bits(static_cast<std::int32_t>(0xfff00000));
  for (std::size_t i = 0; i < count; i += Simd::width) {
    const Vec a = Simd::div(Simd::div(Simd::load(up + i), six), t);
    const Bits bits = Simd::bits(Simd::min(high, Simd::max(low, a)));
    const Bits last = Simd::and_bits(Simd::shift_right<20>(bits), one);
    const Bits rounded = Simd::and_bits(Simd::add_bits(Simd::add_bits(bits, half), last), kept);
    const Vec scale = Simd::floats(rounded);
    Simd::store(down + i, Simd::div(inverse, scale));
    Simd::store(up + i, Simd::mul(t, scale));
  }
}

MxKernel choose_mx_kernel(const MxKernelChoice& choice) {
  if (choice.is_integer)
    return choice.encodes ? mx_kernel_of<OnMxInteger, true>(choice.rounding)
                          : mx_kernel_of<OnMxInteger, false>(choice.rounding);
  return choice.encodes ? mx_kernel_of<OnMxMinifloat, true>(choice.rounding)
                        : mx_kernel_of<OnMxMinifloat, false>(choice.rounding);
}

}  // namespace
}  // namespace mase::formats::kernels
