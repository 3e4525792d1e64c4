// SPDX-License-Identifier: Apache-2.0
// Pieces: a tensor cut in such a way that a format does to each piece what it does to the tensor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "formats/format.hpp"

namespace mase::formats {

/// Consecutive elements of a tensor, as a tensor of their own.
struct Piece {
  std::int64_t first = 0;  ///< the first element
  Shape shape;

  std::int64_t size() const { return numel(shape); }
  std::int64_t end() const { return first + size(); }
  /// The elements as float32, from the tensor as one row of any floating type.
  Array values(const Array& flat) const;
};

/// The elements of a piece where several copies of it as float32 should be little memory.
inline constexpr std::int64_t usual_piece = std::int64_t{1} << 20;

class Pieces {
 public:
  /// Cuts a tensor of `shape` into pieces of about `elements` elements, or of the least number that
  /// belong together (Format::rows_together). `format` has no chance.
  Pieces(const Format& format, const Shape& shape, std::int64_t elements);
  /// The pieces of a tensor that no format changes.
  Pieces(const Shape& shape, std::int64_t elements);

  std::size_t count() const;
  std::int64_t most_elements() const { return std::min(step_, size_); }  ///< of a piece
  Piece at(std::size_t index) const;
  /// The least piece with these elements.
  Piece around(std::int64_t first, std::int64_t count) const;
  /// The format of a piece.
  Format format_of(const Format& format, const Piece& piece) const;
  /// Calls see(piece, its values as float32) for all pieces of `tensor`, in order.
  template <class See>
  void for_each(const Array& tensor, const See& see) const {
    const Array flat = tensor.reshaped({tensor.size()});
    for (std::size_t i = 0; i < count(); ++i) {
      const Piece piece = at(i);
      see(piece, piece.values(flat));
    }
  }

 private:
  Pieces(const Shape& shape, std::int64_t rows_together, std::int64_t elements);

  Shape shape_;
  std::int64_t size_ = 0;
  std::int64_t row_ = 0;       ///< elements of a row; 0 if pieces are no rows of the tensor
  std::int64_t together_ = 1;  ///< elements that belong together
  std::int64_t step_ = 1;      ///< elements of a piece, but for the last
};

}  // namespace mase::formats
