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

using Drawn = OnLogGrid<Rounding::stochastic>;

MASE_SIMD_TARGET void run_drawn(const LogGrid& grid, const float* in, const float* offsets,
                                float* out, std::size_t count) {
  const Drawn op = Drawn::of(grid);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store(out + i, op(Simd::load(in + i), Simd::load(offsets + i)));
}

MASE_SIMD_TARGET void run_drawn_encode(const LogGrid& grid, const float* in, const float* offsets,
                                       std::uint32_t* out, std::size_t count) {
  const Drawn op = Drawn::of(grid);
  const LogCode code = LogCode::of(grid);
  auto* to = reinterpret_cast<std::int32_t*>(out);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store_bits(to + i, code(op(Simd::load(in + i), Simd::load(offsets + i))));
}

}  // namespace

const DrawnLogKernel MASE_KERNELS_OF(drawn_log_kernel){run_drawn, run_drawn_encode};

// There are no ties, so nearest_away is nearest_even.
const ByRounding<LogKernel> MASE_KERNELS_OF(log_kernels){
    kernel<Rounding::nearest_even>, kernel<Rounding::floor>, kernel<Rounding::nearest_even>};

}  // namespace mase::formats::kernels
