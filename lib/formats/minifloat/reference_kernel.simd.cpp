// SPDX-License-Identifier: Apache-2.0
// The kernels of minifloats and powers of two in profile reference.
#include "formats/minifloat/reference_op.hpp"
#include "simd/span_loop.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

template <bool hidden_bit>
struct ToMinifloat {
  OnReferenceMinifloat<hidden_bit> element;
  Simd::Bits low, high;

  MASE_SIMD static ToMinifloat of(const ReferenceGrid& grid) {
    return {OnReferenceMinifloat<hidden_bit>::of(grid.carries, grid.unit), Simd::all_bits(grid.low),
            Simd::all_bits(grid.high)};
  }
  MASE_SIMD Simd::Vec operator()(Simd::Vec x) const { return unless_nan(x, element(x, low, high)); }
};

struct ToPower {
  OnReferenceLog element;
  Simd::Vec zeta;
  Simd::Bits low, high;

  MASE_SIMD static ToPower of(const ReferenceGrid& grid) {
    return {
        {grid.carries}, Simd::all(grid.zeta), Simd::all_bits(grid.low), Simd::all_bits(grid.high)};
  }
  MASE_SIMD Simd::Vec operator()(Simd::Vec x) const {
    return unless_nan(x, element(x, zeta, low, high));
  }
};

template <class Op>
MASE_SIMD_TARGET void run(const ReferenceGrid& grid, const float* in, float* out,
                          std::size_t count) {
  apply(Op::of(grid), in, out, count);
}

}  // namespace

const ReferenceKernels MASE_KERNELS_OF(reference_kernels){run<ToMinifloat<true>>,
                                                          run<ToMinifloat<false>>, run<ToPower>};

}  // namespace mase::formats::kernels
