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

std::optional<FloatCode> Constants::float_code(const Codes& weights) const {
  const auto has_code = [&](std::int64_t number) { return any_code->code(number).has_value(); };
  if (any_code && std::ranges::all_of(weights, has_code)) return any_code;
  if (!elements || any) return std::nullopt;
  const auto code = FloatCode::shortest(weights, most_level_bits);
  return code && code->width <= type.width ? code : std::nullopt;
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
