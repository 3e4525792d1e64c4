// SPDX-License-Identifier: Apache-2.0
// The kernels of residual binary values. Every line is one of binary_residual_scalar.cpp.
#include "formats/low_bit/residual_kernel.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"
#include "simd/specials.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

using Vec = Simd::Vec;
using Wide = Simd::Wide;

struct ExactResidual {
  std::size_t levels;
  Wide plus[ResidualMeans::most_levels], minus[ResidualMeans::most_levels];

  MASE_SIMD explicit ExactResidual(const ResidualMeans& means) : levels(means.levels) {
    for (std::size_t level = 0; level < levels; ++level) {
      plus[level] = Simd::wide_all(means.exact[level]);
      minus[level] = Simd::wide_all(-means.exact[level]);
    }
  }
  MASE_SIMD Vec operator()(Vec x) const {
    const Wide zero = Simd::wide_all(0);
    Wide rest = Simd::widen(x), sum = zero;
    for (std::size_t level = 0; level < levels; ++level) {
      const Wide plane = Simd::select_less_wide(rest, zero, minus[level], plus[level]);
      sum = Simd::add_wide(sum, plane);
      rest = Simd::sub_wide(rest, plane);
    }
    return unless_nan(x, Simd::narrow(sum));
  }
  MASE_SIMD Simd::Bits code(Vec x) const {
    const Wide zero = Simd::wide_all(0);
    Wide rest = Simd::widen(x), code = zero;
    for (std::size_t level = 0; level < levels; ++level) {
      const Wide one = Simd::wide_all(1 << level);
      code = Simd::add_wide(code, Simd::select_less_wide(rest, zero, zero, one));
      rest = Simd::sub_wide(rest, Simd::select_less_wide(rest, zero, minus[level], plus[level]));
    }
    return Simd::nearest_integer(Simd::narrow(code));
  }
};

struct ReferenceResidual {
  std::size_t levels;
  Vec means[ResidualMeans::most_levels];

  MASE_SIMD explicit ReferenceResidual(const ResidualMeans& all) : levels(all.levels) {
    for (std::size_t level = 0; level < levels; ++level)
      means[level] = Simd::all(all.reference[level]);
  }
  MASE_SIMD static Vec sign(Vec residual) {
    const Vec zero = Simd::all(0.0F), one = Simd::all(1.0F), minus_one = Simd::all(-1.0F);
    const Vec c = Simd::min(one, Simd::max(minus_one, residual));
    const Vec sign = Simd::select_less(zero, c, one, Simd::select_less(c, zero, minus_one, zero));
    return Simd::add(c, Simd::sub(sign, c));
  }
  MASE_SIMD Vec operator()(Vec x) const {
    Vec residual = x, sum = Simd::all(0.0F);
    for (std::size_t level = 0; level < levels; ++level) {
      const Vec plane = Simd::mul(sign(residual), means[level]);
      sum = Simd::add(sum, plane);
      residual = Simd::sub(residual, plane);
    }
    return unless_nan(x, sum);
  }
  MASE_SIMD Simd::Bits code(Vec x) const {
    const Vec zero = Simd::all(0.0F);
    Vec residual = x, code = zero;
    for (std::size_t level = 0; level < levels; ++level) {
      const Vec one = Simd::all(static_cast<float>(1 << level));
      const Vec beta = sign(residual);
      code = Simd::add(code, Simd::select_less(beta, zero, zero, one));
      residual = Simd::sub(residual, Simd::mul(beta, means[level]));
    }
    return Simd::nearest_integer(code);
  }
};

template <class Residual>
struct ToResidualCode {
  Residual residual;
  MASE_SIMD Simd::Bits operator()(Vec x) const { return residual.code(x); }
};

template <class Op>
MASE_SIMD_TARGET void run(const ResidualMeans& means, const float* in, float* out,
                          std::size_t count) {
  apply(Op(means), in, out, count);
}

template <class Op>
MASE_SIMD_TARGET bool encode(const ResidualMeans& means, const float* in, std::uint32_t* out,
                             std::size_t count) {
  return encode_span(ToResidualCode<Op>{Op(means)}, in, out, count);
}

}  // namespace

const ResidualKernels MASE_KERNELS_OF(residual_kernels){
    run<ExactResidual>, run<ReferenceResidual>, encode<ExactResidual>, encode<ReferenceResidual>};

}  // namespace mase::formats::kernels
