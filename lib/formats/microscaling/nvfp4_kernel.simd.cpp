// SPDX-License-Identifier: Apache-2.0
// The scales of nvfp4, and runs of its blocks.
#include "formats/block/block_columns.hpp"
#include "formats/block/block_runs.hpp"
#include "formats/microscaling/mx_minifloat_op.hpp"

namespace mase::formats::kernels {
namespace {

/// Every line corresponds to one of nvfp4_block_scale or nvfp4_factors.
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
  MASE_SIMD Bits uncovered(Bits peaks) const {
    return Simd::sub_bits(peaks, Simd::all_bits(0x7f800000));
  }
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
MASE_SIMD_TARGET std::size_t nvfp4_runs(const MxGrid& grid, float tensor_scale, const Runs& runs) {
  return apply_runs(Op::of(grid), Nvfp4Scales::of(tensor_scale), runs);
}

template <class Op>
MASE_SIMD_TARGET std::size_t nvfp4_columns(const MxGrid& grid, float tensor_scale,
                                           const Strip& strip) {
  return apply_columns(Op::of(grid), Nvfp4Scales::of(tensor_scale), strip);
}

template <class Op>
constexpr Nvfp4Kernel nvfp4_kernel{nvfp4_runs<Op>, nvfp4_columns<Op>};

template <bool encodes>
constexpr ByRounding<Nvfp4Kernel> nvfp4_kernels_of{
    nvfp4_kernel<OnMxMinifloat<Rounding::nearest_even, encodes>>,
    nvfp4_kernel<OnMxMinifloat<Rounding::floor, encodes>>,
    nvfp4_kernel<OnMxMinifloat<Rounding::nearest_away, encodes>>,
    nvfp4_kernel<OnMxMinifloat<Rounding::stochastic, encodes>>};

}  // namespace

const Nvfp4Kernels MASE_KERNELS_OF(nvfp4_kernels){nvfp4_blocks, nvfp4_kernels_of<false>,
                                                  nvfp4_kernels_of<true>};

}  // namespace mase::formats::kernels
