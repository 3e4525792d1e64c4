// SPDX-License-Identifier: Apache-2.0
// The dimensions of the space over which windows go.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mase::ir {

/// Their number, as the operator's name has it: 2 for "max_pool2d". They are the last ones of the
/// input; before them are channels, and the batch if there is one. Nothing for a name without one.
constexpr std::optional<std::size_t> space_dims(std::string_view op) {
  const std::size_t digit = op.find_first_of("123");
  if (digit == std::string_view::npos) return std::nullopt;
  return static_cast<std::size_t>(op[digit] - '0');
}

}  // namespace mase::ir
