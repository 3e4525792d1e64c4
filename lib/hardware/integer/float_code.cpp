// SPDX-License-Identifier: Apache-2.0
// The arithmetic of short codes, by their definition.
#include "hardware/integer/float_code.hpp"

#include <algorithm>
#include <bit>

namespace mase::integer {
namespace {

/// Bits of a number that is not negative.
int bits_of(std::int64_t number) { return std::bit_width(static_cast<std::uint64_t>(number)); }

}  // namespace

int FloatCode::significand_bits() const {
  return std::min(mantissa + 1, std::max(magnitude_bits(), has_zero ? 0 : 1));
}

int FloatCode::most_shift() const {
  return std::max(number_width - (is_signed ? 1 : 0) - significand_bits(), 0);
}

FixedType FloatCode::type() const { return {width, 0, is_signed}; }

int FloatCode::shift(std::int64_t code) const {
  const std::int64_t magnitude = is_signed && code < 0 ? ~code : code;
  const auto exponent = static_cast<int>(magnitude >> mantissa);
  return has_zero ? std::max(exponent - 1, 0) : exponent;
}

std::int64_t FloatCode::number(std::int64_t code) const {
  const bool negative = is_signed && code < 0;
  const std::int64_t magnitude = negative ? ~code : code, hidden = std::int64_t{1} << mantissa;
  std::int64_t significand = 1;
  if (has_zero) significand = magnitude < hidden ? magnitude : hidden + magnitude % hidden;
  const std::int64_t number = significand << (std::min(shift(code), most_shift()) + unit);
  return negative ? -number : number;
}

std::optional<std::int64_t> FloatCode::code(std::int64_t number) const {
  const std::int64_t wanted = (number < 0 ? -number : number) >> unit;
  if ((number < 0 && !is_signed) || (number == 0 && !has_zero)) return std::nullopt;
  // The bits above those of the significand count the shifts.
  const int shift = std::max(bits_of(wanted) - 1 - mantissa, 0);
  std::int64_t magnitude = shift;
  if (has_zero) magnitude = (std::int64_t{shift} << mantissa) + (wanted >> shift);
  if (magnitude >= std::int64_t{1} << magnitude_bits()) return std::nullopt;
  const std::int64_t code = number < 0 ? ~magnitude : magnitude;
  if (this->number(code) != number) return std::nullopt;
  return code;
}

namespace {

std::optional<FloatCode> shortest_with(std::span<const std::int64_t> numbers, FloatCode code,
                                       int most_bits) {
  for (code.width = 1; code.width <= most_bits; ++code.width) {
    const auto has = [&](std::int64_t number) { return code.code(number).has_value(); };
    if (std::ranges::all_of(numbers, has)) return code;
  }
  return std::nullopt;
}

}  // namespace

std::optional<FloatCode> FloatCode::shortest(std::span<const std::int64_t> numbers, int most_bits) {
  if (numbers.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(numbers);
  const bool has_zero = std::ranges::find(numbers, 0) != numbers.end();
  std::uint64_t bits = 0;  // that are 1 in any of them
  for (const std::int64_t number : numbers) bits |= static_cast<std::uint64_t>(number);
  const int unit = bits == 0 ? 0 : std::countr_zero(bits);
  const std::int64_t most = std::max(-low, high) >> unit;
  const FixedType type = type_for(low < 0 ? -most : 0, most, 0);
  std::optional<FloatCode> best;
  for (int mantissa = most_bits; mantissa >= 0; --mantissa) {
    const FloatCode tried{1, mantissa, low < 0, has_zero || mantissa > 0, type.width, unit};
    const auto found = shortest_with(numbers, tried, most_bits);
    if (found && (!best || found->width <= best->width)) best = found;
  }
  return best;
}

}  // namespace mase::integer
