// SPDX-License-Identifier: Apache-2.0
// A tensor cut into bands: a band is the rows of the last dimension that share their tiles.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/tiling.hpp"

namespace mase::formats {

/// The same tiles in the same order with as few dimensions as possible: neighbouring dimensions are
/// merged when that changes no tile.
Tiling simplified(const Tiling& tiling);

/// Visits the bands of a tensor in the order of their tiles. Band b holds the tiles
/// [b * tiles_per_band(), (b + 1) * tiles_per_band()).
class Bands {
 public:
  explicit Bands(const Tiling& tiling);

  std::size_t count() const { return count_; }
  std::size_t columns() const { return columns_; }  ///< length of a row
  std::size_t tile() const { return tile_; }        ///< columns of a tile
  std::size_t tiles_per_band() const { return (columns_ + tile_ - 1) / tile_; }
  /// Offsets of the first elements of the band's rows, in order; valid until the next call.
  const std::vector<std::size_t>& rows(std::size_t band);
  /// The number of rows in the largest band.
  std::size_t most_rows() const { return most_rows_; }

 private:
  void add_rows(std::size_t dimension, std::size_t offset);

  Tiling tiling_;
  Shape counts_;
  std::size_t count_ = 1, columns_ = 0, tile_ = 1, most_rows_ = 1;
  std::vector<std::int64_t> position_;  ///< the band's tile in each leading dimension
  std::vector<std::size_t> rows_;
};

}  // namespace mase::formats
