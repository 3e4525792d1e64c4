// SPDX-License-Identifier: Apache-2.0
// Copies the columns of strips out of a tensor and back.
#include "formats/strips.hpp"

#include <algorithm>
#include <cstring>

#include "formats/pieces.hpp"

namespace mase::formats {

std::int64_t columns_together(const Format& format, const Shape& shape) {
  const std::int64_t columns = shape.back();
  if (format.of_peak(1) || format.fields().at("profile").as_string() != "exact") return columns;
  const std::optional<Decoding> decoding = format.decoding(shape);
  if (!decoding || !decoding->tiling || decoding->scales == Decoding::Scales::of_tensor)
    return columns;
  const Tiling& tiling = *decoding->tiling;
  const bool local = format.rows_together(shape) == tiling.rows_together(shape.front());
  return local && tiling.shape.back() == columns ? tiling.tile.back() : columns;
}

Strips::Strips(const Format& format, const Shape& shape, std::int64_t elements) : shape_(shape) {
  if (!shape.empty()) columns_ = shape.back();
  rows_ = numel(shape) / columns_;
  step_ = columns_;
  if (shape.size() < 2 || Pieces(format, shape, elements).most_elements() <= elements) return;
  const std::int64_t together = columns_together(format, shape);
  step_ = std::min(columns_, std::max<std::int64_t>(1, elements / rows_ / together) * together);
}

std::int64_t Strips::columns_of(std::size_t index) const {
  return std::min(step_, columns_ - static_cast<std::int64_t>(index) * step_);
}

Array Strips::take(const Array& tensor, std::size_t index) const {
  if (count() == 1) return tensor;
  Shape shape = shape_;
  shape.back() = columns_of(index);
  Array strip = Array::uninitialized(tensor.dtype(), shape);
  const std::size_t width = size_of(tensor.dtype());
  const std::size_t row = static_cast<std::size_t>(columns_) * width;
  const std::size_t part = static_cast<std::size_t>(shape.back()) * width;
  const std::byte* from = tensor.bytes() + index * static_cast<std::size_t>(step_) * width;
  std::byte* to = strip.mutable_bytes();
  for (std::int64_t i = 0; i < rows_; ++i, from += row, to += part) std::memcpy(to, from, part);
  return strip;
}

void Strips::put(std::span<const std::byte> strip, std::size_t width, std::size_t index,
                 std::byte* tensor) const {
  const std::size_t row = static_cast<std::size_t>(columns_) * width;
  const std::size_t part = static_cast<std::size_t>(columns_of(index)) * width;
  const std::byte* from = strip.data();
  std::byte* to = tensor + index * static_cast<std::size_t>(step_) * width;
  for (std::int64_t i = 0; i < rows_; ++i, from += part, to += row) std::memcpy(to, from, part);
}

}  // namespace mase::formats
