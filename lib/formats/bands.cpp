// SPDX-License-Identifier: Apache-2.0
// Merges dimensions of a tiling, and finds the rows of its bands.
#include "formats/bands.hpp"

#include <algorithm>

namespace mase::formats {
namespace {

// True when dimensions d and d + 1 can become one, with the tile `tile`: the tiles of the merged
// dimension are then runs of the merged index, numbered as before.
bool merges(const Tiling& tiling, std::size_t d, std::int64_t& tile) {
  const std::int64_t outer = tiling.tile[d], inner = tiling.tile[d + 1];
  const std::int64_t length = tiling.shape[d + 1];
  if (inner == length) {
    tile = outer * inner;
    return true;
  }
  tile = inner;
  return outer == 1 && length % inner == 0;
}

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

Tiling simplified(const Tiling& tiling) {
  Tiling out = tiling;
  for (std::size_t d = out.shape.size() - 1; d-- > 0;) {
    std::int64_t tile = 0;
    if (!merges(out, d, tile)) continue;
    out.shape[d] *= out.shape[d + 1];
    out.tile[d] = tile;
    out.shape.erase(out.shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    out.tile.erase(out.tile.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  }
  return out;
}

Bands::Bands(const Tiling& tiling) : tiling_(simplified(tiling)), counts_(tiling_.counts()) {
  columns_ = size(tiling_.shape.back());
  tile_ = size(tiling_.tile.back());
  counts_.pop_back();
  position_.resize(counts_.size());
  for (std::size_t d = 0; d < counts_.size(); ++d) {
    count_ *= size(counts_[d]);
    most_rows_ *= size(tiling_.tile[d]);
  }
}

const std::vector<std::size_t>& Bands::rows(std::size_t band) {
  for (std::size_t d = counts_.size(); d-- > 0; band /= size(counts_[d]))
    position_[d] = static_cast<std::int64_t>(band % size(counts_[d]));
  rows_.clear();
  add_rows(0, 0);
  return rows_;
}

void Bands::add_rows(std::size_t dimension, std::size_t offset) {
  if (dimension == position_.size()) {
    rows_.push_back(offset * columns_);
    return;
  }
  const std::int64_t tile = tiling_.tile[dimension], length = tiling_.shape[dimension];
  const std::int64_t first = position_[dimension] * tile;
  for (std::int64_t i = first; i < std::min(first + tile, length); ++i)
    add_rows(dimension + 1, offset * size(length) + size(i));
}

}  // namespace mase::formats
