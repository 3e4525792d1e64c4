// SPDX-License-Identifier: Apache-2.0
// Cost of dot products of short codes: hw_templates/matrix/mase_dot_float.
#include <algorithm>
#include <bit>
#include <utility>

#include "hardware/design/modules/dot.hpp"
#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

/// One operand, as mase_float_parts makes it.
struct FloatPart {
  bool is_code = true;
  int significand = 1;  ///< bits; all of an operand that is a number
  int exponent = 0;     ///< bits above the mantissa that shift
  int shift = 0;        ///< at most
  int offset = 0;       ///< what is added to the shift
};

FloatPart part_of(const std::optional<integer::FloatCode>& code, int bits) {
  if (!code) return {.is_code = false, .significand = bits};
  const int above = code->magnitude_bits() - std::min(code->mantissa, code->magnitude_bits());
  FloatPart part{.significand = code->significand_bits()};
  if (above <= (code->has_zero ? 1 : 0)) return part;
  part.exponent = above;
  part.shift = code->most_shift();
  part.offset = code->has_zero ? 1 : 0;
  return part;
}

/// The parameters that mase_dot_float derives.
struct FloatTerm {
  FloatPart a, b;  ///< b is a code
  int product = 1, shift_bits = 0, term = 1, low = 1;

  FloatTerm(FloatPart first, FloatPart second) : a(first), b(second) {
    if (!b.is_code) std::swap(a, b);
    const bool single = a.significand == 1 || b.significand == 1;
    product = a.significand + b.significand - (single ? 1 : 0) + (a.is_code ? 1 : 0);
    if (!a.is_code && b.significand == 1) product = a.significand;
    const int offset = a.offset + b.offset, most = a.shift + b.shift + offset;
    shift_bits = std::bit_width(static_cast<unsigned>(most));
    term = product + a.shift + b.shift;
    low = std::min(product + (shift_bits > 1 ? (1 << (shift_bits - 1)) - 1 : 0), term + offset);
  }
};

/// hw_templates/matrix/mase_significands, or Booth rows of a number.
Cost significands_cost(const FloatTerm& term) {
  const int a = term.a.significand, b = term.b.significand;
  if (!term.a.is_code && b > 1) return product_cost(a, b + 1, static_cast<int>(Multiplier::fabric));
  if (a == 1 || b == 1) return {};
  if (a > 4 || b > 4) return product_cost(a + 1, b + 1, static_cast<int>(Multiplier::fabric));
  Cost cost{.lut = static_cast<double>(std::min(a, 3) + std::min(b, 3))};
  if (a > 3) cost += adder_cost(std::min(b, 3) + 1);
  if (b > 3) cost += adder_cost(a + 1);
  return cost;
}

/// LUTs of the shift before the row.
double shift_luts(const FloatTerm& term) {
  double luts = 0;
  int bits = term.product, at = 0, left = std::max(term.shift_bits - 1, 0);
  while (left > 0) {
    const int count = left % 2 == 1 ? 1 : 2;
    bits = std::min(bits + (((1 << count) - 1) << at), term.low);
    luts += bits;
    at += count;
    left -= count;
  }
  return luts;
}

/// Signs, bits in front of mantissas, and the sum of exponents.
double parts_luts(const FloatPart& part) {
  if (!part.is_code) return 0;
  const bool has_mantissa = part.significand > 1;
  return (has_mantissa ? part.significand - 1 : 0) + (part.offset > 0 ? 1.0 : 0.0);
}

double exponent_luts(const FloatTerm& term) {
  const bool both = term.a.exponent > 0 && term.b.exponent > 0;
  return fitted.float_exponent_bit * (both ? 2 : 1) * term.shift_bits;
}

}  // namespace

Cost dot_float_cost(const DotShape& shape) {
  const FloatTerm term(part_of(shape.a_code, shape.a), part_of(shape.b_code, shape.b));
  const auto lanes = static_cast<double>(shape.lanes);
  Cost each = significands_cost(term);
  each.lut += shift_luts(term) + parts_luts(term.a) + parts_luts(term.b) + exponent_luts(term);
  if (term.a.is_code) each.lut += 1;
  if (shape.term_stages > 1) each.ff += term.product + std::max(term.shift_bits, 1) + 1;
  if (shape.term_stages > 0) each.ff += term.low + 2;
  Cost cost = scaled(each, lanes);
  const auto width = [&](std::int64_t count) {
    return std::min(shape.sum, term.term + log2_ceiling(std::min(count, shape.lanes)));
  };
  for (std::int64_t lane = 0; lane < shape.lanes; ++lane) {
    const int bits = width(lane % 4 + 1);
    cost += lane % 4 == 0 ? Cost{.lut = static_cast<double>(bits)} : adder_cost(bits);
  }
  cost += chain_tree_cost(shape.lanes, width);
  return cost;
}

}  // namespace mase::design
