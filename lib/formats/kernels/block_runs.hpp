// Applying a vector operation to tiles that are runs of whole vectors, as many tiles at a time as a
// vector has lanes: their peaks are found in registers, their factors as lanes of a vector, and the
// elements are still in the nearest cache. Included by the kernel source files of block formats
// after their simd_*.hpp.
//
// Factors is a class with `bool cover(Bits peaks) const`, and for peaks that it covers, whose lanes
// are tiles, `Lanes<2> of(Bits peaks) const`.
#pragma once

#include "formats/kernels/block_groups.hpp"

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
  MASE_SIMD Lanes<2> of(Bits peaks) const {
    const Bits carried = Simd::add_bits(Simd::max_bits(peaks, least), carry);
    const Bits field = Simd::min_bits(high, Simd::max_bits(low, Simd::shift_right<23>(carried)));
    return {{Simd::floats(Simd::shift_left<23>(Simd::sub_bits(down, field))),
             Simd::floats(Simd::shift_left<23>(Simd::add_bits(up, field)))}};
  }
};

/// The groups of `count` elements, and then its last elements as a group that zeros fill up.
/// Returns the number of elements done: `count`, or those before a group that is not covered.
template <class Writer, class Groups, class Op, class Factors>
MASE_SIMD std::size_t write_groups(Writer writer, const Groups& groups, const Op& op,
                                   const Factors& factors, const Runs& runs) {
  std::int32_t* peaks = runs.peaks;
  const std::size_t size = groups.size(), tiles = groups.tiles_of(size);
  std::size_t done = 0;
  bool covered = true;
  for (; covered && done + size <= runs.count; done += covered ? size : 0) {
    covered = groups.write(writer, op, factors, runs.in + done, size, peaks);
    if (peaks && covered) peaks += tiles;
  }
  writer.finish();
  const std::size_t rest = runs.count - done;
  if (!covered || rest == 0) return done;
  float part[largest_group], result[largest_group];
  std::memcpy(part, runs.in + done, rest * sizeof(float));
  std::memset(part + rest, 0, (size - rest) * sizeof(float));
  VectorWriter to_result(result);
  if (!groups.write(to_result, op, factors, part, rest, peaks)) return done;
  std::memcpy(runs.out + done, result, rest * sizeof(float));
  return runs.count;
}

template <class Groups, class Op, class Factors>
MASE_SIMD std::size_t write_groups(const Groups& groups, const Op& op, const Factors& factors,
                                   const Runs& runs) {
  if constexpr (Simd::can_stream)
    if (runs.streaming)
      return write_groups(StreamWriter<Simd>(runs.out), groups, op, factors, runs);
  return write_groups(VectorWriter(runs.out), groups, op, factors, runs);
}

/// The same for each row in turn, whose last group may be short.
template <class Groups, class Op, class Factors>
MASE_SIMD std::size_t write_each_row(const Groups& groups, const Op& op, const Factors& factors,
                                     const Runs& runs) {
  Runs part = runs;
  std::size_t done = 0;
  for (std::size_t column = runs.column; done < runs.count; column = 0) {
    part.in = runs.in + done;
    part.out = runs.out + done;
    part.count = std::min(runs.row - column, runs.count - done);
    const std::size_t here = write_groups(groups, op, factors, part);
    done += here;
    if (here < part.count) break;
    if (part.peaks) part.peaks += groups.tiles_of(here);
  }
  return done;
}

/// out = op(in, factors of the element's tile), up to the first group of tiles with a peak that
/// `factors` do not cover; returns the number of elements done.
template <class Op, class Factors>
MASE_SIMD std::size_t apply_runs(const Op& op, const Factors& factors, const Runs& runs) {
  constexpr std::size_t width = Simd::width, longest = longest_run * width;
  const std::size_t tile = runs.tile;
  if (tile > longest) return 0;
  if (runs.row <= longest && runs.row % tile != 0 && runs.column == 0)
    return write_groups(RowTiles(runs.row, tile, runs.count), op, factors, runs);
  if (tile == width) return write_each_row(WholeTiles<1>(tile), op, factors, runs);
  if (tile == 2 * width) return write_each_row(WholeTiles<2>(tile), op, factors, runs);
  if (tile % width == 0) return write_each_row(WholeTiles<0>(tile), op, factors, runs);
  return write_each_row(EqualTiles(tile, runs.count), op, factors, runs);
}

}  // namespace
}  // namespace mase::formats::kernels
