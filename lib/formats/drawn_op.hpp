// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding of vectors, in magnitudes: floor(v + u) is the lower neighbour of |v| or the
// one above it. Everything here is exact, so that it equals the definition in double.
#pragma once

#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

/// Where, with |v| = n + part (n whole, 0 <= part < 1) and u a multiple of 2^-24 in [0, 1), the
/// magnitude of floor(v + u) is n + 1: for part >= 1 - u where v is not negative, for part > u
/// where it is. One comparison for both, as 1 - u has a float32 below it. False for NaN.
struct DrawnLimit {
  simd::Simd::Vec above;  ///< part above this: n + 1

  MASE_SIMD static DrawnLimit of(simd::Simd::Vec v, simd::Simd::Vec u) {
    using simd::Simd;
    const Simd::Bits reached = Simd::bits(Simd::sub(Simd::all(1.0F), u));
    const Simd::Vec below = Simd::floats(Simd::sub_bits(reached, Simd::all_bits(1)));
    return {Simd::select_signed(v, u, below)};  // nothing lies above either for -0
  }
  MASE_SIMD simd::Simd::Vec choose(simd::Simd::Vec part, simd::Simd::Vec next,
                                   simd::Simd::Vec n) const {
    return simd::Simd::select_less(above, part, next, n);
  }
};

/// floor(v + u) where the integers are float32 numbers, -0 where it is 0 and v negative.
MASE_SIMD simd::Simd::Vec drawn_integer(simd::Simd::Vec v, simd::Simd::Vec u) {
  using simd::Simd;
  const Simd::Vec magnitude = Simd::copy_sign(v, Simd::all(0.0F));
  const Simd::Vec n = Simd::trunc(magnitude);
  const Simd::Vec next = Simd::add(n, Simd::all(1.0F));
  return Simd::copy_sign(DrawnLimit::of(v, u).choose(Simd::sub(magnitude, n), next, n), v);
}

}  // namespace
}  // namespace mase::formats::kernels
