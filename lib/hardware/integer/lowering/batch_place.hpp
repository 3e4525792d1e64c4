// SPDX-License-Identifier: Apache-2.0
// Where the batch is in a tensor, and where its dimensions are once the batch is in front.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/array.hpp"

namespace mase::integer {

/// Dimension `dim` has before * batch * rows places: `before` and `rows` are dimensions that are
/// joined with the batch, slower and faster than it.
struct BatchPlace {
  std::size_t dim = 0;
  std::int64_t before = 1, rows = 1;
  bool operator==(const BatchPlace&) const = default;

  std::int64_t others() const { return before * rows; }
  bool is_joined() const { return others() > 1; }
  /// Whether the tensor is another one with the batch in front.
  bool is_moved() const { return dim != 0 || is_joined(); }
  /// The place of the tensor's dimension d when the batch is in front and the others are in their
  /// order. The batch has place 0.
  std::size_t moved(std::size_t d) const {
    if (d < dim) return d + 1;
    return d + (is_joined() ? 1 : 0) - (d == dim && !is_joined() ? dim : 0);
  }
};

/// A shape with the batch in front.
Shape moved_shape(Shape shape, const BatchPlace& place, std::int64_t samples);

/// The row-major place of every element when the batch is in front.
std::vector<std::int64_t> moved_places(const Shape& shape, const BatchPlace& place,
                                       std::int64_t samples);

/// Where a view puts the batch; nothing where it tears it apart. With one sample several places are
/// possible: one of a size that `follows_batch` is taken, else that with fewest others.
std::optional<BatchPlace> place_in_view(const Shape& from, const BatchPlace& place, const Shape& to,
                                        std::int64_t samples,
                                        const std::function<bool(std::size_t dim)>& follows_batch);

}  // namespace mase::integer
