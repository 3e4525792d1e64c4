// SPDX-License-Identifier: Apache-2.0
// FloatCode: short codes of numbers that grow like those of a floating-point format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "hardware/integer/fixed.hpp"

namespace mase::integer {

/// How codes of few bits stand for numbers. The codes ascend with their numbers: a code that is not
/// negative is a magnitude, and a negative one is the magnitude of a negative number with every bit
/// inverted. The low `mantissa` bits of a magnitude are its mantissa f, those above its exponent e:
///   number = f                            for e = 0,
///   number = (2^mantissa + f) * 2^(e-1)   for the others.
/// Codes without zero (binary, and log without a code for zero) have mantissa = 0, and magnitude e
/// stands for 2^e. Whole numbers of sign and magnitude have e = 0 only, ternary ones e = 0 and 1,
/// powers of two mantissa = 0.
struct FloatCode {
  int width = 8;     ///< bits of a code, with its sign
  int mantissa = 3;  ///< bits
  bool is_signed = true;
  bool has_zero = true;
  /// Bits of the numbers that occur, in two's complement if they are signed; without `unit`.
  int number_width = 19;
  int unit = 0;  ///< all numbers are shifted left by so many bits more
  bool operator==(const FloatCode&) const = default;

  int magnitude_bits() const { return width - (is_signed ? 1 : 0); }
  /// Bits of the greatest significand, which is not negative.
  int significand_bits() const;
  int most_shift() const;  ///< of a significand, in the greatest number that occurs
  FixedType type() const;  ///< of the codes, as whole numbers

  int shift(std::int64_t code) const;  ///< of the code's significand
  /// Whether the code stands for one of the numbers that occur, or one of no more bits.
  bool occurs(std::int64_t code) const { return shift(code) <= most_shift(); }
  std::int64_t number(std::int64_t code) const;  ///< of a code that occurs
  /// The code of a number; nullopt for a number that has none.
  std::optional<std::int64_t> code(std::int64_t number) const;

  /// The shortest codes that have all these numbers, and among those the ones with the shortest
  /// significands; nullopt where they would have more than `most_bits` bits.
  static std::optional<FloatCode> shortest(std::span<const std::int64_t> numbers, int most_bits);
};

}  // namespace mase::integer
