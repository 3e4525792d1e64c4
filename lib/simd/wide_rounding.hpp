// SPDX-License-Identifier: Apache-2.0
// Rounds the doubles of a vector to integers.
#pragma once

#include "simd/simd.hpp"

namespace mase::simd {
namespace {

/// Rounds by adding 1.5 * 2^52, which leaves no fraction bits. Exact below 2^51 in magnitude;
/// larger numbers stay about the same, and infinities and NaN stay.
MASE_SIMD Simd::Wide nearest_even_wide(Simd::Wide v) {
  const Simd::Wide magic = Simd::wide_all(0x1.8p52);
  return Simd::sub_wide(Simd::add_wide(v, magic), magic);
}

MASE_SIMD Simd::Wide floor_wide(Simd::Wide v) {
  const Simd::Wide nearest = nearest_even_wide(v);
  return Simd::select_less_wide(v, nearest, Simd::sub_wide(nearest, Simd::wide_all(1)), nearest);
}

}  // namespace
}  // namespace mase::simd
