// SPDX-License-Identifier: Apache-2.0
// Microscaling elements that are minifloats.
#pragma once

#include "formats/microscaling/mx_op.hpp"
#include "formats/minifloat/minifloat_op.hpp"

namespace mase::formats::kernels {
namespace {

template <Rounding rounding, bool encodes>
struct OnMxMinifloat {
  static constexpr std::size_t factors = mx_factor_count;
  static constexpr bool draws = rounding == Rounding::stochastic, is_long = true;
  using Vec = Simd::Vec;
  using Element =
      std::conditional_t<encodes, MinifloatGridCode<rounding>, OnBlockMinifloatGrid<rounding>>;
  Element element;

  MASE_SIMD static OnMxMinifloat of(const MxGrid& grid) {
    if constexpr (encodes)
      return {Element::of(grid.minifloat, grid.minifloat_codes)};
    else
      return {Element::of(grid.minifloat)};
  }

  template <class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile, Offset... u) const {
    const Vec scaled = scaled_down<rounding>(x, tile.factor[mx_down]);
    const Vec up = tile.factor[mx_up];
    if constexpr (encodes)
      return code_in_tile(element.of_number(scaled, u...), up);
    else
      return Simd::mul(element(scaled, u...), up);
  }
};

}  // namespace
}  // namespace mase::formats::kernels
