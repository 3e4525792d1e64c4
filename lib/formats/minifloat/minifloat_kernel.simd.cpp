// SPDX-License-Identifier: Apache-2.0
// The minifloat kernels.
#include "formats/minifloat/drawn_bits_op.hpp"
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
  MASE_SIMD static ToMinifloatCode of(const MinifloatGrid& grid, const MinifloatCodeGrid& codes) {
    return {Op::of(grid), MinifloatCode<hidden_bit>::of(codes)};
  }
  template <class... Offset>
  MASE_SIMD Simd::Bits operator()(Simd::Vec x, Offset... u) const {
    return code(quantize(x, u...));
  }
};
template <Rounding rounding>
struct ToMinifloatCode<OnMinifloatGrid<rounding, true>, true> : MinifloatGridCode<rounding> {
  MASE_SIMD static ToMinifloatCode of(const MinifloatGrid& grid, const MinifloatCodeGrid& codes) {
    return {MinifloatGridCode<rounding>::of(grid, codes)};
  }
};

template <class Op, bool hidden_bit>
MASE_SIMD_TARGET bool run_encode(const MinifloatGrid& grid, const MinifloatCodeGrid& codes,
                                 const float* in, std::uint32_t* out, std::size_t count) {
  return encode_span(ToMinifloatCode<Op, hidden_bit>::of(grid, codes), in, out, count);
}

template <class Op>
constexpr MinifloatKernel kernel{run<Op>, run_encode<Op, true>, run_encode<Op, false>};

MASE_SIMD_TARGET void run_floored(const MinifloatGrid& grid, const float* in, float* out,
                                  std::size_t count) {
  if (OnFlooredMinifloatGrid::covers(grid))
    return apply(OnFlooredNumbers::of(grid), in, out, count);
  apply(OnMinifloatGrid<Rounding::floor>::of(grid), in, out, count);
}

template <>
constexpr MinifloatKernel kernel<OnMinifloatGrid<Rounding::floor>>{
    run_floored, run_encode<OnMinifloatGrid<Rounding::floor>, true>,
    run_encode<OnMinifloatGrid<Rounding::floor>, false>};

template <Rounding rounding>
constexpr MinifloatKernels kernels{kernel<OnMinifloatGrid<rounding>>,
                                   kernel<OnMinifloatGrid<rounding, false>>,
                                   kernel<OnWideMinifloatGrid<rounding>>};

template <bool saturate>
using Drawn = OnMinifloatGrid<Rounding::stochastic, saturate>;

template <class Op>
MASE_SIMD_TARGET void run_drawn(const MinifloatGrid& grid, const float* in, const float* offsets,
                                float* out, std::size_t count) {
  const auto op = Op::of(grid);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store(out + i, op(Simd::load(in + i), Simd::load(offsets + i)));
}

template <class Op, bool hidden_bit>
MASE_SIMD_TARGET void run_drawn_encode(const MinifloatGrid& grid, const MinifloatCodeGrid& codes,
                                       const float* in, const float* offsets, std::uint32_t* out,
                                       std::size_t count) {
  const auto code = ToMinifloatCode<Op, hidden_bit>::of(grid, codes);
  auto* to = reinterpret_cast<std::int32_t*>(out);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store_bits(to + i, code(Simd::load(in + i), Simd::load(offsets + i)));
}

template <class Op>
constexpr DrawnMinifloatKernel drawn{run_drawn<Op>, run_drawn_encode<Op, true>,
                                     run_drawn_encode<Op, false>};

}  // namespace

const DrawnMinifloatKernels MASE_KERNELS_OF(drawn_minifloat_kernels){
    drawn<Drawn<true>>, drawn<Drawn<false>>, drawn<DrawnInBits<true>>, drawn<DrawnInBits<false>>};

const ByRounding<MinifloatKernels> MASE_KERNELS_OF(minifloat_kernels){
    kernels<Rounding::nearest_even>, kernels<Rounding::floor>, kernels<Rounding::nearest_away>};

}  // namespace mase::formats::kernels
