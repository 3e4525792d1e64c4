// SPDX-License-Identifier: Apache-2.0
// Functions of one wide input in straight pieces that are finer the smaller the input is.
#pragma once

#include "hardware/integer/steps/pieces.hpp"

namespace mase::integer {

/// y = base[s] + slope[s] * l. The magnitude of x is x, or -x - 1 where x is negative, in M bits.
/// Its octave is the number of zeros in front of its leading one, at most 2^octave_bits - 1. The
/// bits behind the leading one (in the last octave, where none may be left: all bits behind its
/// zeros) are followed by zeros to make M bits again: the first piece_bits of them are the place of
/// the piece in its octave, the next low_bits are l, and the rest is dropped. A piece s is made of
/// the sign of x, its octave and its place, in this order.
struct OctavePieces : Pieces {
  FixedType input = {};
  int octave_bits = 2, piece_bits = 1;  ///< at least so many

  struct Place {
    std::size_t piece;
    std::int64_t low;
  };
  Place place(std::int64_t code) const;
  Wide operator()(std::int64_t code) const {
    const auto [piece, low] = place(code);
    return at(piece, low);
  }
  /// The inputs of a piece, which follow each other; the first is above the last where it has none.
  Interval inputs(std::size_t piece) const;
  std::size_t pieces() const;
  int magnitude_bits() const { return input.width - (input.is_signed ? 1 : 0); }

  std::string_view step_kind() const { return "octave_pieces"; }
  std::string details() const {
    return details_of("pieces in " + std::to_string(1 << octave_bits) + " octaves");
  }

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) { return static_cast<Sum>((*this)(frame.in()[i])); });
  }

 private:
  int last_octave() const { return (1 << octave_bits) - 1; }
};

}  // namespace mase::integer
