// SPDX-License-Identifier: Apache-2.0
// What dot products cost: hw_templates/matrix/mase_dot and mase_dot_packed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "hardware/design/cost.hpp"
#include "hardware/integer/float_code.hpp"

namespace mase::design {

/// The operands of a dot product as signed numbers.
struct DotShape {
  std::int64_t lanes = 1;
  int a = 8, b = 8;         ///< bits of the signed operands
  int sum = 16;             ///< bits of the accumulator
  std::int64_t stages = 0;  ///< registers behind the tool's multipliers
  std::optional<integer::FloatCode> a_code = std::nullopt, b_code = std::nullopt;
  std::int64_t term_stages = 0;  ///< registers behind the terms of codes
};

/// How outputs share multipliers: the parameters of hw_templates/matrix/mase_dot_packed.
struct Packs {
  std::int64_t outputs = 1;
  int pitch = 0, known = 0;
};

/// The registers of chains of four lanes, and the tree of adders behind them, with registers after
/// the odd levels and the last one; `width` of the sum of so many lanes.
Cost chain_tree_cost(std::int64_t lanes, const std::function<int(std::int64_t)>& width);
/// Whether products of these codes are tables of a LUT6 for each bit, as
/// hw_templates/matrix/mase_dot_float decides.
bool has_product_table(const std::optional<integer::FloatCode>& a,
                       const std::optional<integer::FloatCode>& b);
/// hw_templates/matrix/mase_dot_float, for a shape with a code.
Cost dot_float_cost(const DotShape& shape);
/// hw_templates/matrix/mase_dot, in Booth rows, of codes, or with the tool's multipliers.
Cost dot_cost(const DotShape& shape, bool booth);
/// The dot products of outputs that read the same operands, in packs of those that share
/// multipliers.
Cost dots_packed_cost(const DotShape& shape, std::int64_t readers, const Packs& packs);

}  // namespace mase::design
