// SPDX-License-Identifier: Apache-2.0
// BlockLevels: how a format rounds elements whose blocks share an exponent. Relative to its
// exponent every block has the same levels, so that a format is one staircase for elements, and one
// for the exponent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "formats/format.hpp"
#include "hardware/integer/levels.hpp"

namespace mase::integer {

struct BlockLevels {
  formats::Format format;
  /// Those of a block with exponent 0; in one with exponent e all of them are times 2^e.
  Levels elements;
  /// Where elements are all whole numbers between two bounds: how they are rounded to them.
  std::optional<formats::Rounding> rounding;
  int least = 0, greatest = 0;  ///< exponents
  /// A block has at least exponent e > least where its greatest magnitude reaches turn * 2^e.
  Threshold turn;
  bool stays = false;  ///< whether what is rounded once is not changed by rounding it again

  /// The exponent of a block with this greatest magnitude.
  int exponent_of(double peak) const;

  bool operator==(const BlockLevels& other) const { return format == other.format; }
};

/// Error(Fault::unsupported), which says what would do, where exponents are not powers of two, or
/// the format rounds otherwise. `shape` is that of a tensor with the format, its batch first.
std::shared_ptr<const BlockLevels> block_levels_of(const formats::Format& format,
                                                   const Shape& shape);

/// The fixed-point type of all numbers that elements can be, whatever their exponents.
/// Error(Fault::unsupported) where a stream has fewer bits, with a field that does.
FixedType numbers_type(const BlockLevels& blocks, const Shape& shape);

/// The fixed-point type whose codes decide how every number is rounded, whatever its exponent: the
/// last bit tells whether something lies below, and its ends are beyond what saturates.
FixedType deciding_type(const BlockLevels& blocks, const Shape& shape);

/// The row-major indices of the elements of each block of a tensor, ascending.
std::vector<std::vector<std::int64_t>> blocks_of(const formats::Format& format, const Shape& shape);

}  // namespace mase::integer
