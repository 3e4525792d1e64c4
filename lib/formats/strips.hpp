// SPDX-License-Identifier: Apache-2.0
// Strips: columns of a tensor as a tensor of their own, where blocks have too many rows for pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/format.hpp"

namespace mase::formats {

/// How many columns (indices of the last dimension) of a tensor of this shape, which has two
/// dimensions or more and no dimension of 0, belong together, counted from column 0: whole groups
/// of so many columns, as a tensor of their own, have the values, codes and saturation that they
/// have in the tensor. These are the columns of a tile where the scale of a tile follows from its
/// own elements, else all. This holds for formats without chance.
std::int64_t columns_together(const Format& format, const Shape& shape);

/// A tensor cut along its last dimension in such a way that a format does to each strip what it
/// does to the tensor. A tensor whose rows make pieces that are small enough is one strip.
class Strips {
 public:
  /// Strips have about `elements` elements, or the least number that belong together
  /// (columns_together). `format` has no chance, and the tensor is not empty.
  Strips(const Format& format, const Shape& shape, std::int64_t elements);

  std::size_t count() const { return static_cast<std::size_t>((columns_ + step_ - 1) / step_); }
  std::int64_t most_elements() const { return rows_ * step_; }  ///< of a strip
  /// The elements of a strip, in the type of `tensor`.
  Array take(const Array& tensor, std::size_t index) const;
  /// Puts the elements of a strip, of `width` bytes each, to their places in the whole tensor.
  void put(std::span<const std::byte> strip, std::size_t width, std::size_t index,
           std::byte* tensor) const;

 private:
  std::int64_t columns_of(std::size_t index) const;

  Shape shape_;
  std::int64_t rows_ = 1;     ///< rows of the last dimension
  std::int64_t columns_ = 1;  ///< elements of such a row
  std::int64_t step_ = 1;     ///< columns of a strip, but for the last
};

}  // namespace mase::formats
