// SPDX-License-Identifier: Apache-2.0
// Cuts tensors into slices.
#include "formats/slices.hpp"

#include "base/error.hpp"

namespace mase::formats {
namespace {

Slices slices_of(std::int64_t total, std::int64_t count) {
  const auto at = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  return {at(count), count == 0 ? 0 : at(total / count)};
}

}  // namespace

Slices first_dimension_slices(const Shape& shape) {
  return slices_of(numel(shape), shape.size() < 2 ? 1 : shape.front());
}

std::int64_t rows_of_slices(const Shape& shape) { return shape.size() == 1 ? shape.front() : 1; }

Tiling first_dimension_tiling(const Shape& shape) {
  return block_tiling(shape, {}, true, std::nullopt);
}

Slices row_slices(const Shape& shape) {
  Shape rows = shape;
  if (!rows.empty()) rows.pop_back();
  return slices_of(numel(shape), numel(rows));
}

double bits_with_scales(int bits, std::size_t scales, const Shape& shape) {
  const auto elements = static_cast<double>(numel(shape));
  return elements == 0 ? bits : bits + 32.0 * static_cast<double>(scales) / elements;
}

void check_rank_four(const Shape& shape, const std::string& what) {
  if (shape.size() != 4)
    config_error("profile 'reference' has " + what + " for tensors of 4 dimensions only, not " +
                 shape_text(shape) + "; use profile 'exact'");
}

}  // namespace mase::formats
