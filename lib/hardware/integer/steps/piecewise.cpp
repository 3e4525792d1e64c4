// SPDX-License-Identifier: Apache-2.0
// Straight pieces.
#include "hardware/integer/steps/piecewise.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace mase::integer {

Wide Piecewise::operator()(std::int64_t code) const {
  const auto bits = static_cast<std::uint64_t>(code);
  const std::size_t segment = (bits >> low_bits) & (slope.size() - 1);
  return base[segment] + Wide{slope[segment]} * (bits & ((std::uint64_t{1} << low_bits) - 1));
}

Interval Piecewise::accumulators() const {
  const Wide last = (Wide{1} << low_bits) - 1;
  Interval all{base[0], base[0]};
  for (std::size_t s = 0; s < base.size(); ++s) {
    const Wide begin = base[s], end = begin + slope[s] * last;
    all = hull(all, {std::min(begin, end), std::max(begin, end)});
  }
  return all;
}

std::string Piecewise::details() const {
  return std::to_string(slope.size()) + " segments, off by at most " +
         fixed_text(largest_error, 3) + " of the last place";
}

}  // namespace mase::integer
