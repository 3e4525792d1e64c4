// SPDX-License-Identifier: Apache-2.0
// The microscaling kernels that an operation makes.
#pragma once

#include "formats/block/block_columns.hpp"
#include "formats/block/block_runs.hpp"
#include "formats/microscaling/mx_kernel.hpp"

namespace mase::formats::kernels {
namespace {

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
