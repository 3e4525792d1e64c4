// SPDX-License-Identifier: Apache-2.0
// The treatment of NaN in kernels, apart from their arithmetic.
#pragma once

#include "simd/simd.hpp"

namespace mase::simd {
namespace {

MASE_SIMD Simd::Bits magnitude_bits(Simd::Vec x) {
  return Simd::and_bits(Simd::bits(x), Simd::all_bits(0x7fffffff));
}

/// x itself, with its payload, in lanes where x is NaN, and `value` in the others.
MASE_SIMD Simd::Vec unless_nan(Simd::Vec x, Simd::Vec value) {
  return Simd::floats(Simd::select_less_bits(Simd::all_bits(0x7f800000), magnitude_bits(x),
                                             Simd::bits(x), Simd::bits(value)));
}

}  // namespace
}  // namespace mase::simd
