// SPDX-License-Identifier: Apache-2.0
// Sizes as functions of one size of an input, found from the values that they take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mase::pt2 {

/// slope * x + the sum of factor * floor((x + shift) / period) + offset.
struct SizeFunction {
  struct Step {
    std::int64_t factor = 1, shift = 0;
  };
  std::int64_t slope = 0, period = 1, offset = 0;
  std::vector<Step> steps;

  bool varies() const { return slope != 0 || !steps.empty(); }
  std::int64_t operator()(std::int64_t x) const;
  /// The largest number that divides all values.
  std::int64_t content() const;
  /// The function over `divisor`, which divides its content, as sympy reads it.
  std::string text(const std::string& symbol, std::int64_t divisor = 1) const;
};

/// The function that takes these values at first, first + 1, ...; its period is the smallest one,
/// and the values show it three times. nullopt if there is none.
std::optional<SizeFunction> fit_sizes(std::span<const std::int64_t> values, std::int64_t first);

/// Sums and products as sympy reads them. Integers alone are "Integer(4)".
std::string integer_text(std::int64_t value);
std::string sum_text(const std::vector<std::string>& terms);
std::string product_text(const std::vector<std::string>& factors);

}  // namespace mase::pt2
