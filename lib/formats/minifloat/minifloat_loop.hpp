// The minifloat kernels in terms of Simd: one text for all instruction sets. Included by
// minifloat_<set>.cpp after its simd_*.hpp.
#pragma once

#include "formats/minifloat/minifloat_op.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"

namespace mase::formats::kernels {
namespace {

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
MinifloatKernel kernel_of() {
  return {run<Op>, run_encode<Op, true>, run_encode<Op, false>};
}

template <Rounding rounding>
MinifloatKernel kernel_of(MinifloatRange range) {
  if (range == MinifloatRange::overflowing) return kernel_of<OnMinifloatGrid<rounding, false>>();
  if (range == MinifloatRange::wide) return kernel_of<OnWideMinifloatGrid<rounding>>();
  return kernel_of<OnMinifloatGrid<rounding>>();
}

MinifloatKernel choose_kernel(Rounding rounding, MinifloatRange range) {
  if (rounding == Rounding::floor) return kernel_of<Rounding::floor>(range);
  if (rounding == Rounding::nearest_away) return kernel_of<Rounding::nearest_away>(range);
  return kernel_of<Rounding::nearest_even>(range);
}

}  // namespace
}  // namespace mase::formats::kernels
