// SPDX-License-Identifier: Apache-2.0
// Exact binary numbers: what float32 scales and their products are.
#pragma once

#include "hardware/integer/fixed.hpp"

namespace mase::integer {

/// mantissa * 2^exponent; the mantissa is odd, or both are 0. Operations are exact; a Refusal where
/// a mantissa would need more than 126 bits.
class Exact {
 public:
  Exact() = default;
  Exact(double number);  // NOLINT(google-explicit-constructor): every double is such a number
  Exact(Wide mantissa, int exponent);

  bool is_zero() const { return mantissa_ == 0; }
  int sign() const { return mantissa_ == 0 ? 0 : mantissa_ < 0 ? -1 : 1; }
  /// Whether it is 2^n or -2^n.
  bool is_power() const { return mantissa_ == 1 || mantissa_ == -1; }
  Wide mantissa() const { return mantissa_; }
  int exponent() const { return exponent_; }
  /// The nearest double, at most one unit in the last place away.
  double rounded() const;

  Exact operator-() const { return {-mantissa_, exponent_}; }
  friend Exact operator*(const Exact& a, const Exact& b);
  friend Exact operator+(const Exact& a, const Exact& b);
  bool operator==(const Exact&) const = default;
  /// The sign of a - b.
  friend int compare(const Exact& a, const Exact& b);

 private:
  Wide mantissa_ = 0;
  int exponent_ = 0;
};

}  // namespace mase::integer
