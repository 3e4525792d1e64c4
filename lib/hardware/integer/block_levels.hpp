// SPDX-License-Identifier: Apache-2.0
// BlockLevels: how a format rounds elements whose blocks share a scale. The scale is one of few
// mantissas times a power of two. Relative to its exponent every block whose scale has the same
// mantissa has the same levels, so that a format is a staircase for elements for each mantissa, and
// one for the scale.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "formats/format.hpp"
#include "hardware/integer/levels.hpp"

namespace mase::integer {

/// What becomes of blocks whose scale has one of the mantissas.
struct MantissaLevels {
  /// Those of a block with exponent 0; in one with exponent e all of them are times 2^e.
  Levels elements;
  /// A block has at least this scale with exponent e, unless it is the least one, where its
  /// greatest magnitude reaches turn * 2^e.
  Threshold turn;
};

/// Scales have numbers, which ascend with them: scale n has mantissa n mod m of m mantissas, and
/// exponent n div m. Where scales are powers of two, their numbers are the exponents.
struct BlockLevels {
  formats::Format format;
  std::vector<MantissaLevels> mantissas;  ///< ascending; their elements have one binary point
  /// Where elements are all whole numbers between two bounds: how they are rounded to them.
  std::optional<formats::Rounding> rounding;
  int least = 0, greatest = 0;  ///< scales
  bool stays = false;  ///< whether what is rounded once is not changed by rounding it again

  int exponent(int scale) const;
  const MantissaLevels& mantissa(int scale) const;
  /// From which magnitude on a block has this scale, or a greater one.
  Threshold turn(int scale) const;
  /// Fraction bits of the codes of elements.
  int frac() const { return mantissas.front().elements.type.frac; }

  bool operator==(const BlockLevels& other) const { return format == other.format; }
};

/// Error(Fault::unsupported), which says what would do, where scales have many mantissas, or
/// the format rounds otherwise. The size of blocks does not matter: they may have one element.
std::shared_ptr<const BlockLevels> block_levels_of(const formats::Format& format);

/// The fixed-point type of all numbers that elements can be, whatever their scales.
/// Error(Fault::unsupported) where a stream has fewer bits, with a field that does.
FixedType numbers_type(const BlockLevels& blocks);

/// The fixed-point type whose codes decide how every number is rounded, whatever its scale: the
/// last bit tells whether something lies below, and its ends are beyond what saturates.
FixedType deciding_type(const BlockLevels& blocks);

/// The row-major indices of the elements of each block of a tensor, ascending.
std::vector<std::vector<std::int64_t>> blocks_of(const formats::Format& format, const Shape& shape);

}  // namespace mase::integer
