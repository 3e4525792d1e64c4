// SPDX-License-Identifier: Apache-2.0
// The integer kernels.
#include "formats/fixed/integer_op.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

template <Rounding rounding, Profile profile>
MASE_SIMD_TARGET void run(const IntegerGrid& grid, const float* in, float* out, std::size_t count) {
  apply(OnIntegerGrid<rounding, profile>::of(grid), in, out, count);
}

template <Rounding rounding, Profile profile>
struct ToCode {
  OnIntegerGrid<rounding, profile> grid;
  MASE_SIMD Simd::Bits operator()(Simd::Vec x) const { return Simd::nearest_integer(grid.code(x)); }
};

template <Rounding rounding, Profile profile>
MASE_SIMD_TARGET bool run_encode(const IntegerGrid& grid, const float* in, std::uint32_t* codes,
                                 std::size_t count) {
  using Grid = OnIntegerGrid<rounding, profile>;
  return encode_span(ToCode<rounding, profile>{Grid::of(grid)}, in, codes, count);
}

struct FromCode {
  Simd::Bits sign;
  Simd::Vec step;
  MASE_SIMD Simd::Vec operator()(Simd::Bits code) const {
    return Simd::mul(Simd::from_integer(Simd::sub_bits(Simd::xor_bits(code, sign), sign)), step);
  }
};

MASE_SIMD_TARGET void run_decode(const IntegerGrid& grid, const std::uint32_t* codes, float* out,
                                 std::size_t count) {
  decode_span(FromCode{Simd::all_bits(grid.sign), Simd::all(grid.step)}, codes, out, count);
}

MASE_SIMD_TARGET void run_stochastic(const IntegerGrid& grid, const float* in, const float* offsets,
                                     float* out, std::size_t count) {
  const OnStochasticGrid on_grid = OnStochasticGrid::of(grid);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store(out + i, on_grid(Simd::load(in + i), Simd::load(offsets + i)));
}

MASE_SIMD_TARGET void run_stochastic_encode(const IntegerGrid& grid, const float* in,
                                            const float* offsets, std::uint32_t* codes,
                                            std::size_t count) {
  const OnStochasticGrid on_grid = OnStochasticGrid::of(grid);
  auto* out = reinterpret_cast<std::int32_t*>(codes);
  for (std::size_t i = 0; i < count; i += Simd::width) {
    const Simd::Vec code = on_grid.code(Simd::load(in + i), Simd::load(offsets + i));
    Simd::store_bits(out + i, Simd::nearest_integer(code));
  }
}

template <Rounding rounding, Profile profile = Profile::exact>
constexpr IntegerKernels all_kernels{run<rounding, profile>, run_encode<rounding, profile>};

}  // namespace

const IntegerKernelTable MASE_KERNELS_OF(integer_kernel_table){
    {all_kernels<Rounding::nearest_even>, all_kernels<Rounding::floor>,
     all_kernels<Rounding::nearest_away>},
    all_kernels<Rounding::nearest_even, Profile::reference>,
    all_kernels<Rounding::floor, Profile::reference>,
    run_decode,
    {run_stochastic, run_stochastic_encode}};

}  // namespace mase::formats::kernels
