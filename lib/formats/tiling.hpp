// SPDX-License-Identifier: Apache-2.0
// Tiling: how a tensor is cut into blocks that share a scale (formats.md, section 3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/array.hpp"

namespace mase::formats {

/// A tensor of `shape` (leading dimensions perhaps merged) cut into tiles of `tile` elements per
/// dimension, from index 0 on; the last tile of a dimension may be short. Both have the same rank,
/// 1 <= tile[d] <= max(1, shape[d]). Tiles are numbered row-major by `counts()`.
struct Tiling {
  Shape shape, tile;

  Shape counts() const;        ///< tiles per dimension: shape of the shared codes
  std::int64_t tiles() const;  ///< numel(counts())
  /// Rows (indices of dimension 0 of the tensor, of which there are `rows`) after whose whole
  /// groups, from row 0 on, tiles end.
  std::int64_t rows_together(std::int64_t rows) const;
  /// The number of the tile with the first element, for every row of the last dimension:
  /// element [.., i] of that row lies in tile row_tiles[row] + i / tile.back().
  std::vector<std::int64_t> row_tiles() const;
};

/// Section 3(a): `block_size` is right-aligned to the shape; missing or -1 entries and those larger
/// than the dimension mean the whole dimension, surplus leading entries are dropped.
/// `max_rank`: leading dimensions are merged until the tensor has at most this rank.
/// `skip_first_dim`: blocks have size 1 along dimension 0 when the rank is 2 or more.
Tiling block_tiling(const Shape& shape, std::span<const std::int64_t> block_size,
                    bool skip_first_dim, std::optional<int> max_rank);

/// Section 3(b): runs of `block_size` along dimension `block_dim` (negative: from the end).
/// Error(Fault::config) when the tensor lacks that dimension. A scalar is a tensor of one element.
Tiling line_tiling(const Shape& shape, std::int64_t block_size, int block_dim);

/// Section 3(c): tiles of [p1, p0] over the last two dimensions ([p0] means [1, p0]; rank 1 is one
/// row). Error(Fault::config) names a dimension that a tile does not divide.
Tiling divided_tiling(const Shape& shape, std::span<const std::int64_t> parallelism);

}  // namespace mase::formats
