// SPDX-License-Identifier: Apache-2.0
// Microscaling elements that are integers.
#pragma once

#include "formats/drawn_op.hpp"
#include "formats/microscaling/mx_op.hpp"

namespace mase::formats::kernels {
namespace {

template <Rounding rounding, bool encodes>
struct OnMxInteger {
  static constexpr std::size_t factors = mx_factor_count;
  static constexpr bool draws = rounding == Rounding::stochastic;
  using Vec = Simd::Vec;
  Vec to_integer, low, high;
  Simd::Bits code_mask;

  MASE_SIMD static OnMxInteger of(const MxGrid& grid) {
    return {Simd::all(grid.to_integer), Simd::all(-grid.limit), Simd::all(grid.limit),
            Simd::all_bits(grid.code_mask)};
  }

  template <class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile, Offset... u) const {
    const Vec scaled = Simd::mul(scaled_down<rounding>(x, tile.factor[mx_down]), to_integer);
    const Vec element = Simd::min(high, Simd::max(low, rounded(scaled, u...)));
    const Vec up = tile.factor[mx_up];
    if constexpr (encodes)
      return code_in_tile(Simd::and_bits(Simd::nearest_integer(element), code_mask), up);
    return Simd::add(Simd::mul(element, up), Simd::all(0.0F));  // -0 + 0 = +0
  }

  MASE_SIMD static Vec rounded(Vec scaled, Vec u) { return drawn_integer(scaled, u); }
  MASE_SIMD static Vec rounded(Vec scaled) {
    if constexpr (rounding == Rounding::nearest_even) return Simd::nearest_even(scaled);
    if constexpr (rounding == Rounding::floor) return Simd::floor(scaled);
    // Added to the number just below 1/2, a fraction of 1/2 reaches 1, and smaller fractions do
    // not.
    return Simd::trunc(Simd::add(scaled, Simd::copy_sign(Simd::all(0x1.fffffep-2F), scaled)));
  }
};

}  // namespace
}  // namespace mase::formats::kernels
