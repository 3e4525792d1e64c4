// SPDX-License-Identifier: Apache-2.0
// The factors of tiles in vectors, whose lanes are different tiles or the same one.
#pragma once

#include "formats/block/block_strip.hpp"
#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

template <std::size_t count>
struct Lanes {
  Simd::Vec factor[count];
};

/// Factors that are powers of two, by a PowerRule.
struct PowerFactors {
  using Bits = Simd::Bits;
  Bits least, most, small, carry, down, up, low, high;

  MASE_SIMD static PowerFactors of(const PowerRule& rule) {
    return {Simd::all_bits(rule.least),       Simd::all_bits(rule.most),
            Simd::all_bits(rule.least - 1),   Simd::all_bits(rule.carry),
            Simd::all_bits(rule.down_offset), Simd::all_bits(rule.up_offset),
            Simd::all_bits(rule.low),         Simd::all_bits(rule.high)};
  }
  /// A peak of 0 is covered, since its exponent does not matter.
  MASE_SIMD Bits uncovered(Bits peaks) const {
    const Bits below = Simd::sub_bits(peaks, Simd::all_bits(1));
    const Bits too_small = Simd::select_less_bits(below, small, below, Simd::all_bits(-1));
    return Simd::max_bits(too_small, Simd::sub_bits(below, most));
  }
  MASE_SIMD Lanes<2> of(Bits peaks) const {
    const Bits carried = Simd::add_bits(Simd::max_bits(peaks, least), carry);
    const Bits field = Simd::min_bits(high, Simd::max_bits(low, Simd::shift_right<23>(carried)));
    return {{Simd::floats(Simd::shift_left<23>(Simd::sub_bits(down, field))),
             Simd::floats(Simd::shift_left<23>(Simd::add_bits(up, field)))}};
  }
};

}  // namespace
}  // namespace mase::formats::kernels
