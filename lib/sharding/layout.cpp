// SPDX-License-Identifier: Apache-2.0
// The words for sets of mesh axes, and the parts into which they split.
#include "sharding/layout.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace mase::sharding {
namespace {

constexpr std::array<std::string_view, 4> axis_words{"R", "S_0", "S_1", "S_01"};

}  // namespace

std::int64_t parts(const Mesh& mesh, AxisSet axes) {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (has(axes, axis)) product *= mesh.sizes[axis];
  return product;
}

std::int64_t parts(const Mesh& mesh, const Layout& layout) {
  std::int64_t product = 1;
  for (const AxisSet axes : layout.split) product *= parts(mesh, axes);
  return product;
}

bool fits(const Mesh& mesh, const Layout& layout, const Shape& shape) {
  AxisSet used = layout.partial;
  for (std::size_t dim = 0; dim < layout.split.size(); ++dim) {
    const AxisSet axes = layout.split[dim];
    if ((used & axes) != 0) return false;
    used |= axes;
    if (axes != 0 && (dim >= shape.size() || shape[dim] % parts(mesh, axes) != 0)) return false;
  }
  return true;
}

std::int64_t part_number(AxisSet axes, const Mesh& mesh, std::int64_t rank) {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (has(axes, axis)) number = number * mesh.sizes[axis] + mesh.place(rank, axis);
  return number;
}

Shape part_shape(const Mesh& mesh, const Layout& layout, const Shape& shape) {
  Shape part = shape;
  for (std::size_t dim = 0; dim < part.size(); ++dim) part[dim] /= parts(mesh, layout.split[dim]);
  return part;
}

std::vector<std::string> words(const Layout& layout) {
  std::vector<std::string> all;
  for (const AxisSet axes : layout.split) all.emplace_back(axis_words.at(axes));
  return all;
}

std::string text_of(const Layout& layout) {
  std::string text = "[" + join(words(layout), ", ") + "]";
  if (layout.partial == 0) return text;
  text += " sum ";
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (has(layout.partial, axis)) text += std::to_string(axis);
  return text;
}

std::optional<AxisSet> axes_of(std::string_view word) {
  const auto found = std::ranges::find(axis_words, word);
  if (found == axis_words.end()) return std::nullopt;
  return static_cast<AxisSet>(found - axis_words.begin());
}

}  // namespace mase::sharding
