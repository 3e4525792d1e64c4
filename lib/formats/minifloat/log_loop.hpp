// The kernels of the format log in terms of Simd: one text for all instruction sets. Included by
// log_<set>.cpp after its simd_*.hpp.
#pragma once

#include "formats/minifloat/log_op.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"

namespace mase::formats::kernels {
namespace {

template <Rounding rounding>
MASE_SIMD_TARGET void run(const LogGrid& grid, const float* in, float* out, std::size_t count) {
  apply(OnLogGrid<rounding>::of(grid), in, out, count);
}

template <Rounding rounding>
struct ToLogCode {
  OnLogGrid<rounding> quantize;
  LogCode code;
  MASE_SIMD Simd::Bits operator()(Simd::Vec x) const { return code(quantize(x)); }
};

template <Rounding rounding>
MASE_SIMD_TARGET bool run_encode(const LogGrid& grid, const float* in, std::uint32_t* out,
                                 std::size_t count) {
  return encode_span(ToLogCode<rounding>{OnLogGrid<rounding>::of(grid), LogCode::of(grid)}, in, out,
                     count);
}

// nearest_away is nearest_even: there are no ties.
LogKernel choose_kernel(Rounding rounding) {
  if (rounding == Rounding::floor) return {run<Rounding::floor>, run_encode<Rounding::floor>};
  return {run<Rounding::nearest_even>, run_encode<Rounding::nearest_even>};
}

}  // namespace
}  // namespace mase::formats::kernels
