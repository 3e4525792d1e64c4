// SPDX-License-Identifier: Apache-2.0
// Cuts tensors where a format lets its rows or elements stand alone.
#include "formats/pieces.hpp"

#include <algorithm>

namespace mase::formats {

Array Piece::values(const Array& flat) const {
  const Array part =
      size() == flat.size() ? flat.to_float32().aligned() : flat.rows(first, size()).to_float32();
  return part.reshaped(shape);
}

Pieces::Pieces(const Format& format, const Shape& shape, std::int64_t elements)
    : Pieces(shape, format.rows_together(shape), elements) {}

Pieces::Pieces(const Shape& shape, std::int64_t elements) : Pieces(shape, 0, elements) {}

Pieces::Pieces(const Shape& shape, std::int64_t rows_together, std::int64_t elements)
    : shape_(shape), size_(numel(shape)) {
  const std::int64_t rows = shape.empty() ? 1 : std::max<std::int64_t>(1, shape.front());
  if (rows_together > 0 && !shape.empty()) row_ = size_ / rows;
  together_ = std::max<std::int64_t>(1, rows_together * row_);
  step_ = std::max<std::int64_t>(1, elements / together_) * together_;
}

std::size_t Pieces::count() const { return static_cast<std::size_t>((size_ + step_ - 1) / step_); }

Piece Pieces::at(std::size_t index) const {
  const std::int64_t first = static_cast<std::int64_t>(index) * step_;
  return around(first, std::min(step_, size_ - first));
}

Piece Pieces::around(std::int64_t first, std::int64_t count) const {
  const std::int64_t begin = first / together_ * together_;
  const std::int64_t groups = (first + count - begin + together_ - 1) / together_;
  const std::int64_t elements = std::min(groups * together_, size_ - begin);
  if (shape_.empty()) return {0, {}};
  Shape shape{elements};
  if (row_ > 0) {
    shape = shape_;
    shape.front() = elements / row_;
  }
  return {begin, std::move(shape)};
}

Format Pieces::format_of(const Format& format, const Piece& piece) const {
  return row_ > 0 ? format.of_rows(piece.first / row_, piece.shape.front()) : format;
}

}  // namespace mase::formats
