// SPDX-License-Identifier: Apache-2.0
// ConstantMatrix: what a step multiplies its input by, for those who ask any step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/integer/fixed.hpp"
#include "hardware/integer/float_code.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {

/// A matrix of constants in a step: `weight` has `rows` of `columns`, of which each of `groups`
/// equal parts reads other inputs. One bias for each row, or none.
struct ConstantMatrix {
  std::int64_t groups, rows, columns;
  const FixedType& weight_type;
  const Codes& weight;
  const std::optional<FloatCode>& weight_code;
  const std::vector<Wide>& bias;
  int bias_width;  ///< of every bias that may come; 0: of these
};

/// "s6.3", or "s19.9 in codes of 8 bits".
inline std::string weights_text(const FixedType& type, const std::optional<FloatCode>& code) {
  return type_text(type) + (code ? " in codes of " + std::to_string(code->width) + " bits" : "");
}

}  // namespace mase::integer
