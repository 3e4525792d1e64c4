// SPDX-License-Identifier: Apache-2.0
// Index arithmetic of layouts.
#include "hardware/integer/lowering/layout.hpp"

#include <algorithm>
#include <numeric>

namespace mase::integer {
namespace {

using Index = std::int64_t;

/// Elements between neighbours along each dimension of a row-major tensor.
std::vector<Index> strides_of(const Shape& shape) {
  std::vector<Index> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Index coordinate(Index element, const Shape& shape, const std::vector<Index>& strides,
                 std::size_t dim) {
  return element / strides[dim] % shape[dim];
}

std::vector<Index> identity(Index count) {
  std::vector<Index> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The row-major index in `to` of an element whose coordinate d is coordinate dims[d] in `from`.
Index moved(Index element, const Shape& from, const Shape& to,
            const std::vector<std::size_t>& dims) {
  const std::vector<Index> strides = strides_of(from);
  Index index = 0;
  for (std::size_t d = 0; d < to.size(); ++d)
    index = index * to[d] + coordinate(element, from, strides, dims[d]);
  return index;
}

}  // namespace

std::int64_t inner_of(const Shape& shape, std::size_t dim) {
  return numel(Shape(shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1, shape.end()));
}

Layout row_major(const Shape& torch_shape) {
  return {torch_shape, torch_shape, identity(numel(torch_shape))};
}

Layout channels_last(const Shape& torch_shape) {
  if (torch_shape.size() < 2) return row_major(torch_shape);
  Layout layout{torch_shape, torch_shape, {}};
  std::rotate(layout.shape.begin(), layout.shape.begin() + 1, layout.shape.end());
  const Index channels = torch_shape[0], pixels = numel(torch_shape) / std::max<Index>(channels, 1);
  for (Index p = 0; p < pixels; ++p)
    for (Index c = 0; c < channels; ++c) layout.order.push_back(c * pixels + p);
  return layout;
}

bool is_channels_last(const Layout& layout) {
  return layout.order == channels_last(layout.torch_shape).order;
}

bool is_in_rows(const Layout& layout) {
  return is_channels_last(layout) || layout.order == row_major(layout.torch_shape).order;
}

bool keeps_pixels(const Layout& layout) {
  const Shape& shape = layout.torch_shape;
  if (shape.size() < 2) return false;
  const Index pixels = numel(shape) / std::max<Index>(shape[0], 1);
  for (std::size_t i = 0; i < layout.order.size(); ++i)
    if (layout.order[i] % pixels != static_cast<Index>(i) / shape[0]) return false;
  return true;
}

Layout layout_of(const StreamValue& value) {
  return {value.shape, value.torch_shape,
          value.order.empty() ? identity(value.elements()) : value.order};
}

std::vector<Index> compact(std::vector<Index> order) {
  if (order == identity(static_cast<Index>(order.size()))) order.clear();
  return order;
}

Layout arranged(std::vector<Index> order, const Shape& torch_shape) {
  Layout layout = row_major(torch_shape);
  if (layout.order == order) return layout;
  layout.order = std::move(order);
  if (keeps_pixels(layout))
    std::rotate(layout.shape.begin(), layout.shape.begin() + 1, layout.shape.end());
  else
    layout.shape = {static_cast<Index>(layout.order.size())};
  return layout;
}

std::vector<Index> places_of(const Layout& layout) {
  std::vector<Index> places(layout.order.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    places[at(layout.order[i])] = static_cast<Index>(i);
  return places;
}

Layout reshaped(Layout layout, const Shape& torch_shape) {
  layout.torch_shape = torch_shape;
  return layout;
}

Layout permuted(Layout layout, const std::vector<std::size_t>& dims) {
  Shape shape;
  for (const std::size_t dim : dims) shape.push_back(layout.torch_shape[dim]);
  for (Index& element : layout.order) element = moved(element, layout.torch_shape, shape, dims);
  layout.torch_shape = shape;
  return layout;
}

bool is_innermost(const Layout& layout, std::size_t dim) {
  if (layout.shape.empty() || layout.shape.back() != layout.torch_shape[dim]) return false;
  const std::vector<Index> strides = strides_of(layout.torch_shape);
  for (std::size_t i = 0; i < layout.order.size(); ++i) {
    const Index expected = static_cast<Index>(i) % layout.shape.back();
    if (coordinate(layout.order[i], layout.torch_shape, strides, dim) != expected) return false;
  }
  return true;
}

std::optional<Rows> rows_of(const Layout& layout) {
  const Index columns = layout.torch_shape.empty() ? 1 : layout.torch_shape.back();
  Rows found;
  for (Index i = 0; i < columns; ++i) found.columns.push_back(layout.order[at(i)] % columns);
  for (std::size_t i = 0; i < layout.order.size(); ++i) {
    const std::size_t column = i % at(columns);
    if (column == 0) found.rows.push_back(layout.order[i] / columns);
    if (layout.order[i] != found.rows.back() * columns + found.columns[column]) return std::nullopt;
  }
  return found;
}

Gather gather_between(const Layout& from, const std::vector<std::int64_t>& source,
                      const Layout& wanted, std::int64_t outside) {
  const std::vector<std::int64_t> places = places_of(from);
  std::vector<std::int64_t> taken;
  for (const std::int64_t element : wanted.order) {
    const std::int64_t origin = source[at(element)];
    taken.push_back(origin < 0 ? -1 : places[at(origin)]);
  }
  return gather_of(std::move(taken), static_cast<std::int64_t>(places.size()), outside);
}

}  // namespace mase::integer
