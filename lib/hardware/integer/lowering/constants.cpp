// SPDX-License-Identifier: Apache-2.0
// Ranges and types of constants.
#include "hardware/integer/lowering/constants.hpp"

#include <algorithm>

#include "hardware/integer/lowering/operand.hpp"

namespace mase::integer {

Interval Constants::range() const {
  if (any) return *any;
  const auto [low, high] = std::ranges::minmax(codes);
  return {low, high};
}

void Constants::fit(int frac) {
  const Interval all = hull(range(), {});
  type = type_for(all.low, all.high, frac);
}

void Constants::negate() {
  for (std::int64_t& code : codes) code = -code;
  if (any) any = Interval{-any->high, -any->low};
  fit(type.frac);
}

Interval Summands::range() const {
  if (any) return *any;
  if (codes.empty()) return {};
  const auto [low, high] = std::ranges::minmax(codes);
  return {low, high};
}

int Summands::width() const { return any ? signed_width(any->low, any->high) : 0; }

void check_fixed(const Constants& constants) {
  if (constants.any)
    throw Refusal{
        "its constant stands in the logic, where no other checkpoint's can be loaded; emit the "
        "design without reloadable, or write the number into the model"};
}

}  // namespace mase::integer
