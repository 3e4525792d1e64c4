// SPDX-License-Identifier: Apache-2.0
// Fixed-point types and requantisation: the arithmetic every integer datapath shares, defined once
// for the integer program, the cost models and the parameters of the hardware.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/rounding.hpp"

namespace mase::integer {

/// Wide enough for every accumulator that `lower` accepts.
/// __extension__ needs a declaration after it, which a `using` is not.
// NOLINTNEXTLINE(modernize-use-using)
__extension__ typedef __int128 Wide;

/// Bits of the codes of a stream, at most.
inline constexpr int stream_bits = 62;
/// Bits of an exact sum, at most: of an accumulator, and of a stream from it to a requantisation.
inline constexpr int accumulator_bits = 126;

/// Values c * 2^-frac for codes c of `width` bits, two's complement when signed.
struct FixedType {
  int width = 8;
  int frac = 0;  ///< may be negative or exceed the width
  bool is_signed = true;

  Wide low() const;   ///< least code
  Wide high() const;  ///< greatest code
  bool operator==(const FixedType&) const = default;
};
std::string type_text(const FixedType& type);  ///< "s8.4", "u6.0": width and fraction bits

/// The least type with these fraction bits that holds every code in [low, high].
FixedType type_for(Wide low, Wide high, int frac);

/// Fraction bits of a finite number: the least f for which number * 2^f is whole; 0 for 0.
int fraction_bits(double number);

/// code' = clamp(round(code / (divisor * 2^shift)), low, high), computed exactly.
/// A negative shift multiplies. `rounding` is any but stochastic. Clamping covers saturation and
/// every activation that is a clamp on the output's grid (relu, relu6, hardtanh).
struct Requantise {
  int shift = 0;
  std::int64_t divisor = 1;
  formats::Rounding rounding = formats::Rounding::nearest_even;
  Wide low = 0, high = 0;

  Wide operator()(Wide code) const;
  bool operator==(const Requantise&) const = default;
};

/// A requantisation in 64 bits, for codes of which it is known that they are enough.
class NarrowRequantise {
 public:
  /// None where codes of so many signed bits, or the bounds, could need more.
  static std::optional<NarrowRequantise> of(const Requantise& requantise, int bits);

  std::int64_t operator()(std::int64_t code) const {
    const std::int64_t numerator = code * scale_;
    std::int64_t result = shift_ >= 0 ? numerator >> shift_ : numerator / denominator_;
    std::int64_t rest = numerator - result * denominator_;
    if (rest < 0) {
      --result;
      rest += denominator_;
    }
    const std::int64_t twice = 2 * rest;
    const bool tie_up = away_ ? numerator >= 0 : result % 2 != 0;
    const bool up = twice > denominator_ || (twice == denominator_ && tie_up);
    return std::clamp(result + (nearest_ && up ? 1 : 0), low_, high_);
  }

 private:
  NarrowRequantise() = default;
  std::int64_t scale_ = 1, denominator_ = 1;
  int shift_ = -1;  ///< of a denominator that is a power of two
  bool nearest_ = true, away_ = false;
  std::int64_t low_ = 0, high_ = 0;
};

/// Signed bits that hold every code of [low, high] (at least 1).
int signed_width(Wide low, Wide high);
/// Signed bits that hold every code; 1 for none.
int codes_width(const std::vector<Wide>& codes);
std::string wide_text(Wide value);  ///< decimal

}  // namespace mase::integer
