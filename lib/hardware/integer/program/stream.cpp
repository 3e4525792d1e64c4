// SPDX-License-Identifier: Apache-2.0
// The numbers behind the codes of a stream.
#include "hardware/integer/program/stream.hpp"

#include <algorithm>
#include <iterator>

namespace mase::integer {

FixedType StreamValue::numbers() const {
  if (!code) return type;
  return {code->number_width, type.frac, code->is_signed};
}

std::int64_t StreamValue::least_code() const {
  if (!code) return static_cast<std::int64_t>(type.low());
  const auto low = static_cast<std::int64_t>(numbers().low());
  return *code->code(*std::ranges::lower_bound(levels->codes, low));
}

std::int64_t StreamValue::greatest_code() const {
  if (!code) return static_cast<std::int64_t>(type.high());
  const auto high = static_cast<std::int64_t>(numbers().high());
  return *code->code(*std::prev(std::ranges::upper_bound(levels->codes, high)));
}

}  // namespace mase::integer
