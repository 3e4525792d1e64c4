// SPDX-License-Identifier: Apache-2.0
// Applies a vector operation to tiles of one row, one group at a time (block_groups.hpp): peaks are
// found in registers, factors are lanes of vectors, and the elements are still in the nearest
// cache.
//
// Factors is a class, such as PowerFactors, with `Bits uncovered(Bits peaks) const`, whose lanes
// stand for tiles and are 0 or more for peaks that it does not cover. `Lanes<2> of(Bits peaks)
// const` gives others' factors.
#pragma once

#include <cstring>

#include "formats/block/block_groups.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// Writes `count` elements, or those before a group that is not covered; returns how many it wrote.
/// Reads and writes whole groups. (Operation and factors are copies: as far as a compiler knows,
/// stores to the output might change what a reference holds.)
template <class Writer, class Groups, class Op, class Factors>
[[gnu::noinline]] MASE_SIMD_TARGET std::size_t write_groups(
    const Groups& groups, const Op& given_op, const Factors& given_factors, Seed seed,
    std::size_t index, const float* in, float* out, std::size_t count, std::int32_t* peaks) {
  Offsets<Op> offsets(seed);
  offsets.start(index);
  const Op op = given_op;
  const Factors factors = given_factors;
  const std::size_t size = groups.size();
  Writer writer(out);
  std::size_t done = 0;
  for (; done < count; done += size) {
    const std::size_t wanted = std::min(size, count - done);
    if (!groups.write(writer, op, offsets, factors, in + done, wanted, peaks)) break;
    if (peaks) peaks += groups.tiles_of(wanted);
  }
  writer.finish();
  return std::min(done, count);
}

/// Writes the whole groups of a row.
template <class Groups, class Op, class Factors>
MASE_SIMD std::size_t write_whole(const Groups& groups, const Op& op, const Factors& factors,
                                  const Runs& row) {
  const std::size_t count = row.count - row.count % groups.size();
  if constexpr (streams<Op> && !IsLong<Op>)
    if (row.streaming)
      return write_groups<StreamWriter<Simd>>(groups, op, factors, row.seed, row.index, row.in,
                                              row.out, count, row.peaks);
  return write_groups<VectorWriter>(groups, op, factors, row.seed, row.index, row.in, row.out,
                                    count, row.peaks);
}

/// Writes the elements after the whole groups, as a group filled up with zeros.
template <class Groups, class Op, class Factors>
MASE_SIMD std::size_t write_rest(const Groups& groups, const Op& op, const Factors& factors,
                                 const Runs& row, std::size_t done) {
  const std::size_t count = row.count - done;
  float in[largest_group], out[largest_group];
  std::memcpy(in, row.in + done, count * sizeof(float));
  std::memset(in + count, 0, (groups.size() - count) * sizeof(float));
  std::int32_t* const peaks = row.peaks ? row.peaks + groups.tiles_of(done) : nullptr;
  if (write_groups<VectorWriter>(groups, op, factors, row.seed, row.index + done, in, out, count,
                                 peaks) == 0)
    return 0;
  std::memcpy(row.out + done, out, count * sizeof(float));
  return count;
}

/// Writes a row; returns the number of elements done, as apply_runs does.
template <class Groups, class Op, class Factors>
MASE_SIMD std::size_t write_row(const Groups& groups, const Op& op, const Factors& factors,
                                const Runs& row) {
  const std::size_t done = write_whole(groups, op, factors, row);
  const std::size_t rest = row.count - done;
  if (rest == 0 || rest >= groups.size()) return done;
  return done + write_rest(groups, op, factors, row, done);
}

/// Writes each row in turn. Rows that fill little of a group are faster as strips.
template <class Groups, class Op, class Factors>
MASE_SIMD std::size_t write_each_row(const Groups& groups, const Op& op, const Factors& factors,
                                     const Runs& runs) {
  const bool one_row = runs.column + runs.count <= runs.row;
  if (!one_row && 4 * runs.row < groups.size()) return 0;
  Runs row = runs;
  std::size_t done = 0;
  for (std::size_t column = runs.column; done < runs.count; column = 0) {
    row.in = runs.in + done;
    row.out = runs.out + done;
    row.index = runs.index + done;
    row.count = std::min(runs.row - column, runs.count - done);
    const std::size_t here = write_row(groups, op, factors, row);
    done += here;
    if (here < row.count) break;
    if (row.peaks) row.peaks += groups.tiles_of(here);
  }
  return done;
}

/// out = op(in, factors of the element's tile), up to the first group of tiles with a peak that
/// `factors` do not cover; returns the number of elements done, in whole tiles.
template <class Op, class Factors>
MASE_SIMD std::size_t apply_runs(const Op& op, const Factors& factors, const Runs& runs) {
  constexpr std::size_t longest = longest_run * Simd::width;
  const std::size_t tile = runs.tile;
  if (tile > longest) return 0;
  if (runs.row <= longest && runs.row % tile != 0 && runs.column == 0)
    return write_row(RowTiles(runs.row, tile, runs.count), op, factors, runs);
  if (tile == Simd::width) return write_each_row(WholeTiles<1>(tile), op, factors, runs);
  if (tile == 2 * Simd::width) return write_each_row(WholeTiles<2>(tile), op, factors, runs);
  if (tile % Simd::width == 0) return write_each_row(WholeTiles<0>(tile), op, factors, runs);
  return write_each_row(EqualTiles(tile, runs.count), op, factors, runs);
}

}  // namespace
}  // namespace mase::formats::kernels
