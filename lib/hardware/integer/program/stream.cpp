// SPDX-License-Identifier: Apache-2.0
// The numbers behind the codes of a stream.
#include "hardware/integer/program/stream.hpp"

#include <algorithm>
#include <ranges>

#include "base/error.hpp"

namespace mase::integer {

FixedType StreamValue::numbers() const {
  if (!code) return type;
  return {code->number_width, type.frac, code->is_signed};
}

namespace {

/// The code of the first of the numbers that has one.
template <class Numbers>
std::int64_t first_code(const FloatCode& code, Numbers&& numbers) {
  const auto has_code = [&](std::int64_t number) { return code.code(number).has_value(); };
  const auto found = std::ranges::find_if(numbers, has_code);
  MASE_CHECK(found != std::ranges::end(numbers), "a stream of no level");
  return *code.code(*found);
}

}  // namespace

std::int64_t StreamValue::least_code() const {
  return code ? first_code(*code, levels->codes) : static_cast<std::int64_t>(type.low());
}

std::int64_t StreamValue::greatest_code() const {
  if (!code) return static_cast<std::int64_t>(type.high());
  return first_code(*code, std::views::reverse(levels->codes));
}

}  // namespace mase::integer
