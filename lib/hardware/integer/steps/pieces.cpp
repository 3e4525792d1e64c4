// SPDX-License-Identifier: Apache-2.0
// Straight pieces.
#include "hardware/integer/steps/pieces.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace mase::integer {

Interval Pieces::accumulators() const {
  const std::int64_t last = (std::int64_t{1} << low_bits) - 1;
  Interval all{base[0], base[0]};
  for (std::size_t s = 0; s < base.size(); ++s) {
    const Wide begin = base[s], end = at(s, last);
    all = hull(all, {std::min(begin, end), std::max(begin, end)});
  }
  return all;
}

std::string Pieces::details_of(const std::string& parts) const {
  return std::to_string(slope.size()) + " " + parts + ", off by at most " +
         fixed_text(largest_error, 3) + " of the last place";
}

}  // namespace mase::integer
