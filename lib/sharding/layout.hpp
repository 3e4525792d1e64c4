// SPDX-License-Identifier: Apache-2.0
// Layouts: how a tensor lies on the devices of a mesh.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "sharding/mesh.hpp"

namespace mase::sharding {

/// A set of mesh axes, one bit each.
using AxisSet = std::uint8_t;
constexpr AxisSet only_axis(std::size_t axis) { return static_cast<AxisSet>(1U << axis); }
constexpr bool has(AxisSet set, std::size_t axis) { return (set & only_axis(axis)) != 0; }

/// For each dimension of a tensor the mesh axes that it is split over, in equal parts. A dimension
/// that is split over both axes lies in the order of the devices' numbers. Along an axis that
/// splits nothing all devices have the same values; along one in `partial` they have addends, whose
/// sum is the tensor.
struct Layout {
  std::vector<AxisSet> split;
  AxisSet partial = 0;

  static Layout whole(std::size_t rank) { return {std::vector<AxisSet>(rank, 0), 0}; }
  auto operator<=>(const Layout&) const = default;
};

/// The number of devices along the axes of a set.
std::int64_t parts(const Mesh& mesh, AxisSet axes);
/// The number of parts of the whole tensor.
std::int64_t parts(const Mesh& mesh, const Layout& layout);
/// Whether all dimensions can be split into equal parts, and no axis is used twice.
bool fits(const Mesh& mesh, const Layout& layout, const Shape& shape);
/// The number of a device's part along a dimension that these axes split.
std::int64_t part_number(AxisSet axes, const Mesh& mesh, std::int64_t rank);
/// The shape of one device's part.
Shape part_shape(const Mesh& mesh, const Layout& layout, const Shape& shape);

/// The reference system's words for the dimensions: "R" for a whole one, "S_0", "S_1", and "S_01"
/// for one that is split over both axes.
std::vector<std::string> words(const Layout& layout);
/// The same in one text, "[R, S_1]", with the axes of partial sums: "[R, R] sum 1".
std::string text_of(const Layout& layout);
/// The axes of one of the words; nothing for another text.
std::optional<AxisSet> axes_of(std::string_view word);

}  // namespace mase::sharding
