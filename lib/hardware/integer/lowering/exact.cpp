// SPDX-License-Identifier: Apache-2.0
// Arithmetic of exact binary numbers in 128 bits.
#include "hardware/integer/lowering/exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hardware/integer/lowering/operand.hpp"

namespace mase::integer {
namespace {

[[noreturn]] void refuse_width() {
  throw Refusal{
      "its factors and summands need more than 126 bits together; a data_out format on a "
      "node in front of it rounds them"};
}

int bits_of(Wide magnitude) { return signed_width(0, magnitude) - 1; }

Wide magnitude_of(Wide number) { return number < 0 ? -number : number; }

/// number * 2^bits.
Wide raised(Wide number, int bits) {
  if (number == 0) return 0;
  if (bits_of(magnitude_of(number)) + bits > accumulator_bits) refuse_width();
  return number * (static_cast<Wide>(1) << bits);
}

}  // namespace

Exact::Exact(double number) {
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  *this = Exact(static_cast<Wide>(std::ldexp(fraction, 53)), exponent - 53);
}

Exact::Exact(Wide mantissa, int exponent) : mantissa_(mantissa), exponent_(exponent) {
  if (mantissa_ == 0) {
    exponent_ = 0;
    return;
  }
  const auto low = static_cast<std::uint64_t>(mantissa_);
  const int zeros = low != 0 ? std::countr_zero(low)
                             : 64 + std::countr_zero(static_cast<std::uint64_t>(mantissa_ >> 64));
  mantissa_ >>= zeros;  // of bits that are all 0
  exponent_ += zeros;
}

double Exact::rounded() const { return std::ldexp(static_cast<double>(mantissa_), exponent_); }

Exact operator*(const Exact& a, const Exact& b) {
  const Wide x = magnitude_of(a.mantissa_), y = magnitude_of(b.mantissa_);
  if (bits_of(x) + bits_of(y) > accumulator_bits) refuse_width();
  return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_};
}

Exact operator+(const Exact& a, const Exact& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const int exponent = std::min(a.exponent_, b.exponent_);
  const Wide x = raised(a.mantissa_, a.exponent_ - exponent);
  const Wide y = raised(b.mantissa_, b.exponent_ - exponent);
  return {x + y, exponent};
}

int compare(const Exact& a, const Exact& b) {
  if (a.sign() != b.sign() || a.is_zero()) return a.sign() < b.sign() ? -1 : a.sign() > b.sign();
  const Wide x = magnitude_of(a.mantissa_), y = magnitude_of(b.mantissa_);
  const int x_top = bits_of(x) + a.exponent_, y_top = bits_of(y) + b.exponent_;
  if (x_top != y_top) return (x_top < y_top ? -1 : 1) * a.sign();
  const int exponent = std::min(a.exponent_, b.exponent_);
  const Wide left = raised(x, a.exponent_ - exponent), right = raised(y, b.exponent_ - exponent);
  return (left < right ? -1 : left > right) * a.sign();
}

}  // namespace mase::integer
