// Applying a vector operation to tiles that are runs of whole vectors, as many tiles at a time as a
// vector has lanes: their peaks are found in registers, their factors as lanes of a vector, and the
// elements are still in the nearest cache. Included by the kernel source files of block formats
// after their simd_*.hpp.
//
// Factors is a class with `bool cover(Bits peaks) const`, and `void store(Bits peaks, float* down,
// float* up) const` for peaks that it covers, whose lanes are tiles.
#pragma once

#include "formats/kernels/block_loop.hpp"
#include "formats/kernels/block_magnitudes.hpp"

namespace mase::formats::kernels {
namespace {

/// Factors that are powers of two, as PowerRule says.
struct PowerFactors {
  Bits least, most, small, carry, down, up, low, high;

  MASE_SIMD static PowerFactors of(const PowerRule& rule) {
    return {Simd::all_bits(rule.least),       Simd::all_bits(rule.most),
            Simd::all_bits(rule.least - 1),   Simd::all_bits(rule.carry),
            Simd::all_bits(rule.down_offset), Simd::all_bits(rule.up_offset),
            Simd::all_bits(rule.low),         Simd::all_bits(rule.high)};
  }
  /// 0 is covered: its exponent does not matter.
  MASE_SIMD bool cover(Bits peaks) const {
    const Bits below = Simd::sub_bits(peaks, Simd::all_bits(1));
    const Bits too_small = Simd::select_less_bits(below, small, below, Simd::all_bits(-1));
    return Simd::largest(Simd::max_bits(too_small, Simd::sub_bits(below, most))) < 0;
  }
  MASE_SIMD void store(Bits peaks, float* to_down, float* to_up) const {
    const Bits carried = Simd::add_bits(Simd::max_bits(peaks, least), carry);
    const Bits field = Simd::min_bits(high, Simd::max_bits(low, Simd::shift_right<23>(carried)));
    Simd::store(to_down, Simd::floats(Simd::shift_left<23>(Simd::sub_bits(down, field))));
    Simd::store(to_up, Simd::floats(Simd::shift_left<23>(Simd::add_bits(up, field))));
  }
};

template <std::size_t vectors, class Writer, class Op, class Factors>
MASE_SIMD std::size_t write_runs(Writer writer, const Op& op, const Factors& factors,
                                 const Runs& runs) {
  const std::size_t tile = vectors == 0 ? runs.tile : vectors * Simd::width;
  alignas(64) float down[Simd::width], up[Simd::width];
  const float* in = runs.in;
  std::size_t done = 0;
  for (; done + Simd::width <= runs.tiles; done += Simd::width) {
    const Bits peaks = peaks_of_lanes<false>(in, tile);
    if (!factors.cover(peaks)) break;
    factors.store(peaks, down, up);
    for (std::size_t t = 0; t < Simd::width; ++t) {
      const Lanes<2> lanes{{Simd::all(down[t]), Simd::all(up[t])}};
      for (std::size_t i = 0; i < tile; i += Simd::width, in += Simd::width)
        writer.write(op(Simd::load(in), lanes));
    }
  }
  writer.finish();
  return done;
}

template <std::size_t vectors, class Op, class Factors>
MASE_SIMD std::size_t write_runs(const Op& op, const Factors& factors, const Runs& runs) {
  if constexpr (Simd::can_stream)
    if (runs.streaming) return write_runs<vectors>(StreamWriter<Simd>(runs.out), op, factors, runs);
  return write_runs<vectors>(VectorWriter(runs.out), op, factors, runs);
}

/// out = op(in, factors of the element's tile) for whole groups of tiles, up to the first group
/// with a peak that `factors` do not cover; returns the number of tiles done.
template <class Op, class Factors>
MASE_SIMD std::size_t apply_runs(const Op& op, const Factors& factors, const Runs& runs) {
  if (runs.tile == Simd::width) return write_runs<1>(op, factors, runs);
  if (runs.tile == 2 * Simd::width) return write_runs<2>(op, factors, runs);
  if (runs.tile % Simd::width != 0 || runs.tile > longest_run * Simd::width) return 0;
  return write_runs<0>(op, factors, runs);
}

}  // namespace
}  // namespace mase::formats::kernels
