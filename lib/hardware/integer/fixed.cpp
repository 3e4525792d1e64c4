// SPDX-License-Identifier: Apache-2.0
// Fixed-point types and requantisation in exact integers.
#include "hardware/integer/fixed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.hpp"
#include "hardware/integer/lowering/floor_divide.hpp"

namespace mase::integer {
namespace {

Wide power_of_two(int exponent) { return static_cast<Wide>(1) << exponent; }

/// Bits of an unsigned value; 0 for 0.
int bit_length(Wide value) {
  int bits = 0;
  for (; value > 0; value >>= 1) ++bits;
  return bits;
}

}  // namespace

Wide FixedType::low() const { return is_signed ? -power_of_two(width - 1) : 0; }
Wide FixedType::high() const { return power_of_two(is_signed ? width - 1 : width) - 1; }

std::string type_text(const FixedType& type) {
  return (type.is_signed ? "s" : "u") + std::to_string(type.width) + "." +
         std::to_string(type.frac);
}

int signed_width(Wide low, Wide high) {
  return 1 + std::max(bit_length(high), low < 0 ? bit_length(-(low + 1)) : 0);
}

int codes_width(const std::vector<Wide>& codes) {
  if (codes.empty()) return 1;
  const auto [low, high] = std::ranges::minmax(codes);
  return signed_width(low, high);
}

FixedType type_for(Wide low, Wide high, int frac) {
  if (low < 0) return {signed_width(low, high), frac, true};
  return {std::max(1, bit_length(high)), frac, false};
}

int fraction_bits(double number) {
  if (number == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(number, &exponent);
  const auto whole = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  return 53 - exponent - std::countr_zero(static_cast<std::uint64_t>(whole));
}

Wide Requantise::operator()(Wide code) const {
  MASE_CHECK(rounding != formats::Rounding::stochastic, "requantisation is deterministic");
  const bool away = rounding == formats::Rounding::nearest_away;
  // |code| <= 2^125 for every accumulator that `lower` accepts, so a divisor of 2^126 or more
  // leaves at most one half, which goes to 0 as the even neighbour; floor gives -1 below 0. Away
  // from 0 only the half goes, which 2^126 alone leaves.
  const bool half = away && shift == 126 && divisor == 1;
  if (shift + bit_length(divisor) > 126 && !half) {
    const bool below = rounding == formats::Rounding::floor && code < 0;
    return std::clamp<Wide>(below ? -1 : 0, low, high);
  }
  const Wide numerator = shift < 0 ? code * power_of_two(-shift) : code;
  const Wide denominator = static_cast<Wide>(divisor) * power_of_two(std::max(shift, 0));
  Wide result = floor_divide(numerator, denominator);
  if (rounding != formats::Rounding::floor) {
    const Wide twice = 2 * (numerator - result * denominator);
    const bool tie_up = away ? numerator >= 0 : result % 2 != 0;
    if (twice > denominator || (twice == denominator && tie_up)) ++result;
  }
  return std::clamp(result, low, high);
}

std::optional<NarrowRequantise> NarrowRequantise::of(const Requantise& requantise, int bits) {
  constexpr int most = 62;
  const int left = std::max(-requantise.shift, 0), right = std::max(requantise.shift, 0);
  if (bits + left > most || bit_length(requantise.divisor) + right > most ||
      signed_width(requantise.low, requantise.high) > most)
    return std::nullopt;
  NarrowRequantise narrow;
  narrow.scale_ = std::int64_t{1} << left;
  narrow.denominator_ = requantise.divisor << right;
  if (requantise.divisor == 1) narrow.shift_ = right;
  narrow.nearest_ = requantise.rounding != formats::Rounding::floor;
  narrow.away_ = requantise.rounding == formats::Rounding::nearest_away;
  narrow.low_ = static_cast<std::int64_t>(requantise.low);
  narrow.high_ = static_cast<std::int64_t>(requantise.high);
  return narrow;
}

std::string wide_text(Wide value) {
  if (value == 0) return "0";
  std::string digits;
  const bool negative = value < 0;
  for (; value != 0; value /= 10)
    digits += static_cast<char>('0' + std::abs(static_cast<int>(value % 10)));
  if (negative) digits += '-';
  return {digits.rbegin(), digits.rend()};
}

}  // namespace mase::integer
