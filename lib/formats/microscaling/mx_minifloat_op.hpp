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
  static constexpr bool draws = rounding == Rounding::stochastic;
  using Vec = Simd::Vec;
  OnMinifloatGrid<rounding> elements;
  MinifloatCode<true> codes;

  MASE_SIMD static OnMxMinifloat of(const MxGrid& grid) {
    return {OnMinifloatGrid<rounding>::of(grid.minifloat),
            MinifloatCode<true>::of(grid.minifloat_codes)};
  }

  template <class... Offset>
  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile, Offset... u) const {
    const Vec element = elements(scaled_down<rounding>(x, tile.factor[mx_down]), u...);
    const Vec up = tile.factor[mx_up];
    if constexpr (encodes) return code_in_tile(codes(element), up);
    return Simd::mul(element, up);
  }
};

}  // namespace
}  // namespace mase::formats::kernels
