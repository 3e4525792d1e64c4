// SPDX-License-Identifier: Apache-2.0
// Common parts of the microscaling kernels.
#pragma once

#include <limits>

#include "formats/block/block_columns.hpp"
#include "formats/block/block_runs.hpp"
#include "formats/microscaling/mx_kernel.hpp"

namespace mase::formats::kernels {
namespace {

/// x times a tile's first factor. The product is exact unless it underflows, which matters only to
/// `floor` and `stochastic`: they may take any negative x below 0. (Subtracting 2^-126 changes only
/// numbers far below the steps of elements.)
template <Rounding rounding>
MASE_SIMD Simd::Vec scaled_down(Simd::Vec x, Simd::Vec factor) {
  const Simd::Vec scaled = Simd::mul(x, factor);
  if constexpr (rounding != Rounding::floor && rounding != Rounding::stochastic) return scaled;
  return Simd::sub(scaled, Simd::where_less(x, Simd::all(0.0F), Simd::all(0x1p-126F)));
}

/// The code, or 0 in a tile that is NaN.
MASE_SIMD Simd::Vec code_in_tile(Simd::Bits code, Simd::Vec up) {
  const Simd::Vec infinity = Simd::all(std::numeric_limits<float>::infinity());
  return Simd::select_less(up, infinity, Simd::floats(code), Simd::all(0.0F));
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
MASE_SIMD_TARGET std::size_t mx_columns(const MxGrid& grid, const PowerRule& rule,
                                        const Strip& strip) {
  return apply_columns(Op::of(grid), PowerFactors::of(rule), strip);
}

template <class Op>
constexpr MxKernel mx_kernel{mx_strip<Op>, mx_runs<Op>, mx_columns<Op>};

template <template <Rounding, bool> class Op, bool encodes>
constexpr ByRounding<MxKernel> mx_kernels{
    mx_kernel<Op<Rounding::nearest_even, encodes>>, mx_kernel<Op<Rounding::floor, encodes>>,
    mx_kernel<Op<Rounding::nearest_away, encodes>>, mx_kernel<Op<Rounding::stochastic, encodes>>};

}  // namespace
}  // namespace mase::formats::kernels
