// SPDX-License-Identifier: Apache-2.0
// Products are fused with sums if there is an instruction for it, as LibTorch's compiler does.
#include <algorithm>
#include <cmath>

#include "simd/lanes.hpp"
#include "torch/run/normalise_kernels.hpp"

namespace mase::libtorch {
namespace {

using simd::all;
using simd::lanes;
using simd::load;
using simd::select;
using simd::store;
using simd::Vec;

MASE_SIMD_TARGET void terms(const NormTerms& from, std::size_t channels, float* __restrict alpha,
                            float* __restrict beta) {
  for (std::size_t c = 0; c < channels; ++c)
    alpha[c] = 1 / std::sqrt(from.variance[c] + from.epsilon);
  for (std::size_t c = 0; from.weight && c < channels; ++c) alpha[c] *= from.weight[c];
  if (from.bias)
    for (std::size_t c = 0; c < channels; ++c) beta[c] = from.bias[c] - from.mean[c] * alpha[c];
  else
    for (std::size_t c = 0; c < channels; ++c) beta[c] = 0 - from.mean[c] * alpha[c];
}

/// Clamps values. NaN and values equal to a bound are unchanged.
template <Clamp::Kind kind>
MASE_SIMD Vec clamped(Vec y, const Clamp& to) {
  if constexpr (kind != Clamp::Kind::none) y = select(y < all(to.low), all(to.low), y);
  if constexpr (kind == Clamp::Kind::both) y = select(all(to.high) < y, all(to.high), y);
  return y;
}

template <Clamp::Kind kind, bool sum>
MASE_SIMD void step(const float* in, const float* addend, Vec alpha, Vec beta, const Clamp& to,
                    float* out) {
  Vec y = load(in) * alpha + beta;
  if constexpr (sum) y = y + load(addend);
  store(out, clamped<kind>(y, to));
}

/// Processes fewer values than a vector has, through a vector.
template <Clamp::Kind kind, bool sum>
MASE_SIMD void rest(const NormSpan& s, std::size_t at, const Clamp& to, float* out) {
  const std::size_t left = s.count - at;
  float in[lanes] = {}, addend[lanes] = {}, alpha[lanes] = {}, beta[lanes] = {};
  std::copy_n(s.in + at, left, in);
  if constexpr (sum) std::copy_n(s.addend + at, left, addend);
  if (s.by_element) {
    std::copy_n(s.alpha + at, left, alpha);
    std::copy_n(s.beta + at, left, beta);
  }
  step<kind, sum>(in, addend, s.by_element ? load(alpha) : all(*s.alpha),
                  s.by_element ? load(beta) : all(*s.beta), to, in);
  std::copy_n(in, left, out + at);
}

template <Clamp::Kind kind, bool sum>
MASE_SIMD void span_of(const NormSpan& s, const Clamp& to, float* out) {
  std::size_t i = 0;
  const Vec alpha = all(*s.alpha), beta = all(*s.beta);
  if (s.by_element)
    for (; i + lanes <= s.count; i += lanes)
      step<kind, sum>(s.in + i, s.addend + i, load(s.alpha + i), load(s.beta + i), to, out + i);
  else
    for (; i + lanes <= s.count; i += lanes)
      step<kind, sum>(s.in + i, s.addend + i, alpha, beta, to, out + i);
  if (i < s.count) rest<kind, sum>(s, i, to, out);
}

template <Clamp::Kind kind>
MASE_SIMD void with_sum(const NormSpan& s, const Clamp& to, float* out) {
  if (s.addend)
    span_of<kind, true>(s, to, out);
  else
    span_of<kind, false>(s, to, out);
}

MASE_SIMD_TARGET void span(const NormSpan& s, const Clamp& to, float* out) {
  if (to.kind == Clamp::Kind::none) return with_sum<Clamp::Kind::none>(s, to, out);
  if (to.kind == Clamp::Kind::lower) return with_sum<Clamp::Kind::lower>(s, to, out);
  with_sum<Clamp::Kind::both>(s, to, out);
}

}  // namespace

const NormKernels MASE_KERNELS_OF(norm_kernels){terms, span};

}  // namespace mase::libtorch
