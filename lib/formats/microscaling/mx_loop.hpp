// The microscaling kernels in terms of Simd: one text for all instruction sets. Included by
// mx_<set>.cpp after its simd_*.hpp.
#pragma once

#include <limits>

#include "formats/block/block_runs.hpp"
#include "formats/microscaling/mx_kernel.hpp"
#include "formats/minifloat/minifloat_op.hpp"

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

/// Every line is a line of nvfp4_block_scale or nvfp4_factors.
struct Nvfp4Scales {
  using Vec = Simd::Vec;
  Vec t, inverse, six, low, high;
  Bits half, one, kept;

  MASE_SIMD static Nvfp4Scales of(float tensor_scale) {
    return {Simd::all(tensor_scale), Simd::all(1.0F / tensor_scale),
            Simd::all(6.0F),         Simd::all(0x1p-6F),
            Simd::all(448.0F),       Simd::all_bits(0x7ffff),
            Simd::all_bits(1),       Simd::all_bits(static_cast<std::int32_t>(0xfff00000))};
  }
  MASE_SIMD Vec scale(Vec peaks) const {
    const Vec a = Simd::div(Simd::div(peaks, six), t);
    const Bits bits = Simd::bits(Simd::min(high, Simd::max(low, a)));
    const Bits last = Simd::and_bits(Simd::shift_right<20>(bits), one);
    return Simd::floats(Simd::and_bits(Simd::add_bits(Simd::add_bits(bits, half), last), kept));
  }
  MASE_SIMD bool cover(Bits peaks) const { return Simd::largest(peaks) < 0x7f800000; }
  MASE_SIMD Lanes<2> of(Bits peaks) const {
    const Vec found = scale(Simd::floats(peaks));
    return {{Simd::div(inverse, found), Simd::mul(t, found)}};
  }
};

MASE_SIMD_TARGET void nvfp4_blocks(float tensor_scale, std::size_t count, float* down,
                                   float* scales) {
  const Nvfp4Scales factors = Nvfp4Scales::of(tensor_scale);
  for (std::size_t i = 0; i < count; i += Simd::width) {
    const Simd::Vec scale = factors.scale(Simd::load(scales + i));
    Simd::store(down + i, Simd::div(factors.inverse, scale));
    Simd::store(scales + i, scale);
  }
}

template <class Op>
MASE_SIMD_TARGET void mx_strip(const MxGrid& grid, const Strip& strip, const TileFactors& factors) {
  apply_tiles(Op::of(grid), strip, factors);
}

template <class Op>
MASE_SIMD_TARGET std::size_t mx_runs(const MxGrid& grid, const PowerRule& rule, const Runs& runs) {
  return apply_runs(Op::of(grid), PowerFactors::of(rule), runs);
}

template <class Op>
MASE_SIMD_TARGET std::size_t nvfp4_runs(const MxGrid& grid, float tensor_scale, const Runs& runs) {
  return apply_runs(Op::of(grid), Nvfp4Scales::of(tensor_scale), runs);
}

template <class Op, bool is_minifloat>
MxKernel mx_kernel_of() {
  if constexpr (is_minifloat) return {mx_strip<Op>, mx_runs<Op>, nvfp4_runs<Op>};
  return {mx_strip<Op>, mx_runs<Op>, nullptr};
}

template <template <Rounding, bool> class Op, bool encodes, bool is_minifloat>
MxKernel mx_kernel_of(Rounding rounding) {
  if (rounding == Rounding::floor)
    return mx_kernel_of<Op<Rounding::floor, encodes>, is_minifloat>();
  if (rounding == Rounding::nearest_away)
    return mx_kernel_of<Op<Rounding::nearest_away, encodes>, is_minifloat>();
  return mx_kernel_of<Op<Rounding::nearest_even, encodes>, is_minifloat>();
}

MxKernel choose_mx_kernel(const MxKernelChoice& choice) {
  if (choice.is_integer)
    return choice.encodes ? mx_kernel_of<OnMxInteger, true, false>(choice.rounding)
                          : mx_kernel_of<OnMxInteger, false, false>(choice.rounding);
  return choice.encodes ? mx_kernel_of<OnMxMinifloat, true, true>(choice.rounding)
                        : mx_kernel_of<OnMxMinifloat, false, true>(choice.rounding);
}

}  // namespace
}  // namespace mase::formats::kernels
