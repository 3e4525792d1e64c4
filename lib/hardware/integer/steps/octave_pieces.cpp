// SPDX-License-Identifier: Apache-2.0
// Straight pieces in octaves.
#include "hardware/integer/steps/octave_pieces.hpp"

#include <algorithm>
#include <bit>

namespace mase::integer {

OctavePieces::Place OctavePieces::place(std::int64_t code) const {
  const bool negative = code < 0;
  const std::uint64_t magnitude = static_cast<std::uint64_t>(negative ? ~code : code)
                                  << (64 - magnitude_bits());
  const int octave = std::min(std::countl_zero(magnitude), last_octave());
  const std::uint64_t rest = magnitude << (octave + (octave < last_octave() ? 1 : 0));
  const std::size_t first = ((negative ? std::size_t{1} : 0) << octave_bits) + octave;
  return {(first << piece_bits) + (rest >> (64 - piece_bits)),
          static_cast<std::int64_t>((rest << piece_bits) >> (64 - low_bits))};
}

Interval OctavePieces::inputs(std::size_t piece) const {
  const int bits = magnitude_bits();
  const std::size_t place = piece & ((std::size_t{1} << piece_bits) - 1);
  const int octave = static_cast<int>(piece >> piece_bits) & last_octave();
  const bool negative = (piece >> (piece_bits + octave_bits)) != 0, known = octave < last_octave();
  const Wide length = Wide{1} << (bits - piece_bits), leading = known ? Wide{1} << bits : 0;
  const Wide first = leading + static_cast<Wide>(place) * length, last = first + length - 1;
  const int zeros = octave + (known ? 1 : 0);
  const Wide least = (first + (Wide{1} << zeros) - 1) >> zeros, most = last >> zeros;
  return negative ? Interval{-most - 1, -least - 1} : Interval{least, most};
}

std::size_t OctavePieces::pieces() const {
  return std::size_t{1} << ((input.is_signed ? 1 : 0) + octave_bits + piece_bits);
}

}  // namespace mase::integer
