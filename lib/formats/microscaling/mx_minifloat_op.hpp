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

}  // namespace
}  // namespace mase::formats::kernels
