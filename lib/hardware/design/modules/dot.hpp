// SPDX-License-Identifier: Apache-2.0
// What dot products cost: hw_templates/matrix/mase_dot and mase_dot_packed.
#pragma once

#include <cstdint>

#include "hardware/design/cost.hpp"

namespace mase::design {

/// The operands of a dot product as signed numbers.
struct DotShape {
  std::int64_t lanes = 1;
  int a = 8, b = 8;         ///< bits of the signed operands
  int sum = 16;             ///< bits of the accumulator
  std::int64_t stages = 0;  ///< registers behind the tool's multipliers
};

/// How outputs share multipliers: the parameters of hw_templates/matrix/mase_dot_packed.
struct Packs {
  std::int64_t outputs = 1;
  int pitch = 0, known = 0;
};

/// hw_templates/matrix/mase_dot, in Booth rows or with the tool's multipliers.
Cost dot_cost(const DotShape& shape, bool booth);
/// The dot products of outputs that read the same operands, in packs of those that share
/// multipliers.
Cost dots_packed_cost(const DotShape& shape, std::int64_t readers, const Packs& packs);

}  // namespace mase::design
