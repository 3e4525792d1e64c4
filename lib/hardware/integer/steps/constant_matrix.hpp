// SPDX-License-Identifier: Apache-2.0
// ConstantMatrix: what a step multiplies its input by, for those who ask any step.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/integer/fixed.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {

/// A matrix of constants in a step: `weight` has `rows` of `columns`, of which each of `groups`
/// equal parts reads other inputs. One bias for each row, or none.
struct ConstantMatrix {
  std::int64_t groups, rows, columns;
  const FixedType& weight_type;
  const Codes& weight;
  const std::vector<Wide>& bias;
  int bias_width;  ///< of every bias that may come; 0: of these
};

}  // namespace mase::integer
