// SPDX-License-Identifier: Apache-2.0
// Shapes of tiles, and the tiles to which the rows of a tensor belong.
#include "formats/tiling.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/from_front.hpp"

namespace mase::formats {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Shape at_least_one_dimension(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

Shape merged(const Shape& shape, std::optional<int> max_rank) {
  Shape out = at_least_one_dimension(shape);
  while (max_rank && static_cast<int>(out.size()) > std::max(1, *max_rank)) {
    out[1] *= out[0];
    out.erase(out.begin());
  }
  return out;
}

std::int64_t clipped(std::int64_t wanted, std::int64_t dimension) {
  const std::int64_t whole = std::max<std::int64_t>(1, dimension);
  return wanted < 1 || wanted > whole ? whole : wanted;
}

}  // namespace

Shape Tiling::counts() const {
  Shape counts(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) counts[d] = (shape[d] + tile[d] - 1) / tile[d];
  return counts;
}

std::int64_t Tiling::tiles() const { return numel(counts()); }

std::int64_t Tiling::rows_together(std::int64_t rows) const {
  if (rows == 0) return 1;
  const std::int64_t merged = shape.front() / rows;  // indices of the first dimension in a row
  return merged == 0 ? 1 : std::min(rows, tile.front() / std::gcd(tile.front(), merged));
}

std::vector<std::int64_t> Tiling::row_tiles() const {
  const Shape count = counts();
  const std::size_t last = shape.size() - 1;
  std::vector<std::int64_t> tiles{0};
  for (std::size_t d = 0; d < last; ++d) {
    std::vector<std::int64_t> next;
    next.reserve(tiles.size() * at(shape[d]));
    for (const std::int64_t outer : tiles)
      for (std::int64_t i = 0; i < shape[d]; ++i) next.push_back(outer * count[d] + i / tile[d]);
    tiles = std::move(next);
  }
  for (std::int64_t& row : tiles) row *= count[last];
  return tiles;
}

Tiling block_tiling(const Shape& shape, std::span<const std::int64_t> block_size,
                    bool skip_first_dim, std::optional<int> max_rank) {
  Tiling tiling{merged(shape, max_rank), {}};
  const std::size_t rank = tiling.shape.size();
  tiling.tile.resize(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t from_end = rank - d;  // 1 for the last dimension
    const bool given = from_end <= block_size.size();
    tiling.tile[d] =
        clipped(given ? block_size[block_size.size() - from_end] : -1, tiling.shape[d]);
  }
  if (skip_first_dim && rank >= 2) tiling.tile[0] = 1;
  return tiling;
}

Tiling line_tiling(const Shape& shape, std::int64_t block_size, int block_dim) {
  Tiling tiling{at_least_one_dimension(shape), {}};
  const std::size_t rank = tiling.shape.size();
  const auto dimension = from_front(block_dim, rank);
  if (!dimension)
    config_error("block_dim " + std::to_string(block_dim) + " does not exist in a tensor " +
                 shape_text(shape) + " of rank " + std::to_string(rank));
  tiling.tile.assign(rank, 1);
  tiling.tile[*dimension] = clipped(block_size, tiling.shape[*dimension]);
  return tiling;
}

Tiling divided_tiling(const Shape& shape, std::span<const std::int64_t> parallelism) {
  Tiling tiling{at_least_one_dimension(shape), {}};
  const std::size_t rank = tiling.shape.size();
  tiling.tile.assign(rank, 1);
  for (std::size_t from_end = 1; from_end <= std::min(rank, parallelism.size()); ++from_end) {
    const std::int64_t wanted = parallelism[parallelism.size() - from_end];
    const std::int64_t dimension = tiling.shape[rank - from_end];
    if (dimension % wanted != 0)
      config_error("parallelism " + std::to_string(wanted) + " does not divide dimension " +
                   std::to_string(rank - from_end) + " of a tensor " + shape_text(shape));
    tiling.tile[rank - from_end] = std::max<std::int64_t>(1, wanted);
  }
  return tiling;
}

}  // namespace mase::formats
