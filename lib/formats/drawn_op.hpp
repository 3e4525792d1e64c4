// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding of vectors by magnitude: floor(v + u) is the integer below |v| or the one
// above it. Everything here is exact, so that it equals the definition in double.
#pragma once

#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

/// Let |v| = n + part (n whole, 0 <= part < 1), and u a multiple of 2^-24 in [0, 1). The magnitude
/// of floor(v + u) is n + 1 if part >= 1 - u (v not negative), or part > u (v negative). One
/// comparison serves both, since there is a float32 just below 1 - u. False for NaN.
struct DrawnLimit {
  simd::Simd::Vec above;  ///< a part above this gives n + 1

  MASE_SIMD static DrawnLimit of(simd::Simd::Vec v, simd::Simd::Vec u) {
    using simd::Simd;
    const Simd::Bits reached = Simd::bits(Simd::sub(Simd::all(1.0F), u));
    const Simd::Vec below = Simd::floats(Simd::sub_bits(reached, Simd::all_bits(1)));
    return {Simd::select_signed(v, u, below)};  // for -0 the part is above neither
  }
  MASE_SIMD simd::Simd::Vec choose(simd::Simd::Vec part, simd::Simd::Vec next,
                                   simd::Simd::Vec n) const {
    return simd::Simd::select_less(above, part, next, n);
  }
};

/// floor(v + u) when the integers are float32 numbers; -0 when it is 0 and v is negative.
MASE_SIMD simd::Simd::Vec drawn_integer(simd::Simd::Vec v, simd::Simd::Vec u) {
  using simd::Simd;
  const Simd::Vec magnitude = Simd::copy_sign(v, Simd::all(0.0F));
  const Simd::Vec n = Simd::trunc(magnitude);
  const Simd::Vec next = Simd::add(n, Simd::all(1.0F));
  return Simd::copy_sign(DrawnLimit::of(v, u).choose(Simd::sub(magnitude, n), next, n), v);
}

}  // namespace
}  // namespace mase::formats::kernels
