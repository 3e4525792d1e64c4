// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic on codes.
#include "hardware/integer/program/bounds.hpp"

#include <algorithm>

namespace mase::integer {

Interval interval_of(const FixedType& type) { return {type.low(), type.high()}; }

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval sum(const Interval& a, const Interval& b) { return {a.low + b.low, a.high + b.high}; }

Interval product(const Interval& a, const Interval& b) {
  const Wide corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}

Interval shifted(const Interval& a, int bits) {
  const Wide factor = static_cast<Wide>(1) << bits;
  return {a.low * factor, a.high * factor};
}

Interval matrix_interval(std::span<const std::int64_t> weights, std::int64_t row_length,
                         std::span<const Wide> bias, const Interval& input) {
  Interval found;
  const auto length = static_cast<std::size_t>(row_length);
  for (std::size_t first = 0, row = 0; first < weights.size(); first += length, ++row) {
    Interval all;
    for (const std::int64_t weight : weights.subspan(first, length))
      all = sum(all, product({weight, weight}, input));
    if (!bias.empty()) all = sum(all, hull({bias[row], bias[row]}, {}));
    found = hull(found, all);
  }
  return found;
}

Interval matrix_interval(const Interval& weight, std::int64_t row_length, const Interval& bias,
                         const Interval& input) {
  const Interval term = hull(product(weight, input), {});
  return sum({term.low * row_length, term.high * row_length}, hull(bias, {}));
}

}  // namespace mase::integer
