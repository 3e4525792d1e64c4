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
  int inverted = 0;     ///< bits of a magnitude that a sign inverts
};

FloatPart part_of(const std::optional<integer::FloatCode>& code, int bits) {
  if (!code) return {.is_code = false, .significand = bits};
  const int above = code->magnitude_bits() - std::min(code->mantissa, code->magnitude_bits());
  FloatPart part{.significand = code->significand_bits()};
  if (code->is_signed) part.inverted = code->magnitude_bits();
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
  bool takes_off = false;  ///< the offsets, from the exponents
  bool table = false;      ///< products of numbers; nothing is shifted

  FloatTerm(FloatPart first, FloatPart second, bool has_table)
      : a(first), b(second), table(has_table) {
    if (!b.is_code) std::swap(a, b);
    if (table) {
      product = term = low = a.significand + a.shift + b.significand + b.shift + 1;
      return;
    }
    const bool single = a.significand == 1 || b.significand == 1;
    product = a.significand + b.significand - (single ? 1 : 0) + (a.is_code ? 1 : 0);
    if (!a.is_code && b.significand == 1) product = a.significand;
    const int most = a.shift + b.shift;
    const auto bits = [](int number) {
      return static_cast<int>(std::bit_width(static_cast<unsigned>(number)));
    };
    shift_bits = bits(most);
    takes_off = bits(most + a.offset + b.offset) > shift_bits;
    const int offset = takes_off ? 0 : a.offset + b.offset;
    term = product + a.shift + b.shift;
    low = std::min(product + (shift_bits > 1 ? (1 << (shift_bits - 1)) - 1 : 0), term + offset);
  }
};

/// Booth rows of a number or of wide significands; hw_templates/matrix/mase_code_product of short
/// codes, mase_significands of others.
Cost significands_cost(const FloatTerm& term) {
  const int a = term.a.significand, b = term.b.significand;
  if (term.table)
    return {.lut = static_cast<double>(term.product - 1 + term.a.inverted + term.b.inverted)};
  if (b == 1 || (term.a.is_code && a == 1)) return {};
  if (!term.a.is_code || a > 4 || b > 4)
    return product_cost(a + (term.a.is_code ? 1 : 0), b + 1, 2);  // as signed numbers
  Cost cost{.lut = static_cast<double>(std::min(a, 3) + std::min(b, 3))};
  if (a > 3) cost += adder_cost(std::min(b, 3) + 1);
  if (b > 3) cost += adder_cost(a + 1);
  cost.lut *= fitted.float_product_bit;
  return cost;
}

/// Bits of the shift in front of the row: four-way choices, and a two-way one if bits are odd.
double shift_bits(const FloatTerm& term) {
  int sum = 0, bits = term.product, at = 0;
  for (int left = std::max(term.shift_bits - 1, 0); left > 0;) {
    const int count = left % 2 == 1 ? 1 : 2;
    bits = std::min(bits + (((1 << count) - 1) << at), term.low);
    sum += bits;
    at += count;
    left -= count;
  }
  return sum;
}

bool is_sign(const std::optional<integer::FloatCode>& code) {
  return code && !code->has_zero && code->is_signed && code->width == 1;
}

/// hw_templates/matrix/mase_dot_binary.
Cost dot_binary_cost(const DotShape& shape) {
  const std::int64_t leaves = std::int64_t{1} << log2_ceiling(ceiling(shape.lanes, 8));
  Cost cost{.lut = static_cast<double>(shape.lanes)};
  int bits = 3;
  for (std::int64_t nodes = leaves, level = 0; nodes >= 1; nodes /= 2, ++level) {
    if (level > 0) cost += scaled(adder_cost(++bits), static_cast<double>(nodes));
    if (level % 2 == 0 || nodes == 1) cost.ff += static_cast<double>(nodes * (bits + 1));
  }
  cost.ff += static_cast<double>((bits + 1) * (shape.term_stages + (shape.lanes > 4 ? 1 : 0)));
  return cost;
}

}  // namespace

bool has_product_table(const std::optional<integer::FloatCode>& a,
                       const std::optional<integer::FloatCode>& b) {
  if (!a || !b) return false;
  return a->significand_bits() > 1 && b->significand_bits() > 1 &&
         a->magnitude_bits() + b->magnitude_bits() <= 6;
}

Cost dot_float_cost(const DotShape& shape) {
  if (is_sign(shape.a_code) && is_sign(shape.b_code)) return dot_binary_cost(shape);
  const FloatTerm term(part_of(shape.a_code, shape.a), part_of(shape.b_code, shape.b),
                       has_product_table(shape.a_code, shape.b_code));
  const auto lanes = static_cast<double>(shape.lanes);
  Cost each = significands_cost(term);
  each.lut +=
      (term.a.is_code ? fitted.float_shift_bit : fitted.float_number_shift_bit) * shift_bits(term);
  // A sign, and bits that are one exponent's, stand in the LUTs that they choose for.
  if (!term.table && term.a.exponent > 0 && term.b.exponent > 0)
    each.lut += fitted.float_exponent_bit * term.shift_bits;
  // Products of two significands have a zero in front of them.
  const int zeros = term.a.is_code ? 1 : 0;
  if (shape.term_stages > 1)
    each.ff += term.table ? shape.a_code->magnitude_bits() + shape.b_code->magnitude_bits() + 1
                          : term.product - zeros + term.shift_bits + 1;
  if (shape.term_stages > 0) each.ff += term.low - zeros + 1 + (term.shift_bits > 0 ? 1 : 0);
  Cost cost = scaled(each, lanes);
  const auto width = [&](std::int64_t count) {
    return std::min(shape.sum, term.term + log2_ceiling(std::min(count, shape.lanes)));
  };
  for (std::int64_t lane = 0; lane < shape.lanes; ++lane) {
    const int bits = width(lane % 4 + 1);
    cost += lane % 4 == 0 ? Cost{.lut = static_cast<double>(bits)} : carry_adder_cost(bits);
  }
  cost += chain_tree_cost(shape.lanes, width);
  return cost;
}

}  // namespace mase::design
