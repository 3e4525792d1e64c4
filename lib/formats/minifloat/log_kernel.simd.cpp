// SPDX-License-Identifier: Apache-2.0
// The kernels of the format log.
#include "formats/minifloat/log_op.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

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

template <Rounding rounding>
constexpr LogKernel kernel{run<rounding>, run_encode<rounding>};

}  // namespace

// There are no ties: nearest_away is nearest_even.
const ByRounding<LogKernel> MASE_KERNELS_OF(log_kernels){
    kernel<Rounding::nearest_even>, kernel<Rounding::floor>, kernel<Rounding::nearest_even>};

}  // namespace mase::formats::kernels
