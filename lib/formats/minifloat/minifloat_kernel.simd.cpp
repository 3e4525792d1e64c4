// SPDX-License-Identifier: Apache-2.0
// The minifloat kernels.
#include "formats/minifloat/minifloat_op.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

template <class Op>
MASE_SIMD_TARGET void run(const MinifloatGrid& grid, const float* in, float* out,
                          std::size_t count) {
  apply(Op::of(grid), in, out, count);
}

template <class Op, bool hidden_bit>
struct ToMinifloatCode {
  Op quantize;
  MinifloatCode<hidden_bit> code;
  MASE_SIMD Simd::Bits operator()(Simd::Vec x) const { return code(quantize(x)); }
};

template <class Op, bool hidden_bit>
MASE_SIMD_TARGET bool run_encode(const MinifloatGrid& grid, const MinifloatCodeGrid& codes,
                                 const float* in, std::uint32_t* out, std::size_t count) {
  using Code = MinifloatCode<hidden_bit>;
  return encode_span(ToMinifloatCode<Op, hidden_bit>{Op::of(grid), Code::of(codes)}, in, out,
                     count);
}

template <class Op>
constexpr MinifloatKernel kernel{run<Op>, run_encode<Op, true>, run_encode<Op, false>};

template <Rounding rounding>
constexpr MinifloatKernels kernels{kernel<OnMinifloatGrid<rounding>>,
                                   kernel<OnMinifloatGrid<rounding, false>>,
                                   kernel<OnWideMinifloatGrid<rounding>>};

}  // namespace

const ByRounding<MinifloatKernels> MASE_KERNELS_OF(minifloat_kernels){
    kernels<Rounding::nearest_even>, kernels<Rounding::floor>, kernels<Rounding::nearest_away>};

}  // namespace mase::formats::kernels
