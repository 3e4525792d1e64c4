// SPDX-License-Identifier: Apache-2.0
// Shapes as digits of a place in row-major order: the batch is one of them.
#include "hardware/integer/lowering/batch_place.hpp"

#include <algorithm>
#include <vector>

namespace mase::integer {

Shape moved_shape(Shape shape, const BatchPlace& place, std::int64_t samples) {
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(place.dim);
  if (place.is_joined())
    *at = place.others();
  else
    shape.erase(at);
  shape.insert(shape.begin(), samples);
  return shape;
}

std::vector<std::int64_t> moved_places(const Shape& shape, const BatchPlace& place,
                                       std::int64_t samples) {
  const auto dim = shape.begin() + static_cast<std::ptrdiff_t>(place.dim);
  const std::int64_t inner = numel(Shape(dim + 1, shape.end())), rows = place.rows * inner;
  const std::int64_t slower = numel(shape) / (samples * rows);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < numel(shape); ++i) {
    const std::int64_t sample = i / rows % samples, before = i / (rows * samples);
    places.push_back((sample * slower + before) * rows + i % rows);
  }
  return places;
}

std::optional<BatchPlace> place_in_view(const Shape& from, const BatchPlace& place, const Shape& to,
                                        std::int64_t samples,
                                        const std::function<bool(std::size_t dim)>& follows_batch) {
  std::int64_t slower = place.before, passed = 1;
  for (std::size_t d = 0; d < place.dim; ++d) slower *= from[d];
  std::vector<BatchPlace> possible;
  for (std::size_t d = 0; d < to.size() && slower % passed == 0; passed *= to[d++]) {
    const std::int64_t before = slower / passed;
    if (to[d] % (before * samples) == 0)
      possible.push_back({d, before, to[d] / (before * samples)});
  }
  if (possible.empty()) return std::nullopt;
  const auto named = std::ranges::find_if(possible, follows_batch, &BatchPlace::dim);
  if (named != possible.end()) return *named;
  return *std::ranges::min_element(possible, {}, &BatchPlace::others);
}

}  // namespace mase::integer
