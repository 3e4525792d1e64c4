// SPDX-License-Identifier: Apache-2.0
// Layouts: which torch element each stream element is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hardware/integer/program.hpp"

namespace mase::integer {

/// How one frame of torch lies in a stream: `shape` in stream order, `order[i]` = row-major torch
/// index of stream element i (always filled in here).
struct Layout {
  Shape shape, torch_shape;
  std::vector<std::int64_t> order;
};

/// Elements between neighbours along a dimension of a torch shape.
std::int64_t inner_of(const Shape& shape, std::size_t dim);

/// The order of torch itself.
Layout row_major(const Shape& torch_shape);
/// Torch [C, spatial...] as [spatial..., C].
Layout channels_last(const Shape& torch_shape);
bool is_channels_last(const Layout& layout);
/// Whether the order is torch's own or has channels last.
bool is_in_rows(const Layout& layout);
/// The layout of a value, its order filled in.
Layout layout_of(const StreamValue& value);
/// The order as a StreamValue keeps it: empty when it is the identity.
std::vector<std::int64_t> compact(std::vector<std::int64_t> order);

/// Whether the channels of every pixel come together, in any order, and pixels in raster order.
bool keeps_pixels(const Layout& layout);
/// The layout with this order: shaped where the order is torch's own or keeps pixels.
Layout arranged(std::vector<std::int64_t> order, const Shape& torch_shape);
/// The place of every torch element in the stream.
std::vector<std::int64_t> places_of(const Layout& layout);

/// The same elements under another torch shape of the same size.
Layout reshaped(Layout layout, const Shape& torch_shape);
/// Torch dimensions reordered: new dimension d is old dimension dims[d].
Layout permuted(Layout layout, const std::vector<std::size_t>& dims);
/// Whether torch dimension `dim` is the innermost of the stream.
bool is_innermost(const Layout& layout, std::size_t dim);

/// The rows of a stream whose torch rows (last dimension) lie one after another, each in the same
/// order of its elements: columns[i] = torch column of element i; rows[r] = torch row of row r.
struct Rows {
  std::vector<std::int64_t> columns, rows;
};
/// None when the rows are torn apart.
std::optional<Rows> rows_of(const Layout& layout);

/// The gather that makes a stream of layout `wanted` of one of layout `from`: its element i, in
/// torch's order, is element source[i], or outside where that is -1.
Gather gather_between(const Layout& from, const std::vector<std::int64_t>& source,
                      const Layout& wanted, std::int64_t outside = 0);

}  // namespace mase::integer
