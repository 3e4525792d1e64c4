// SPDX-License-Identifier: Apache-2.0
// Intervals of accumulators: the worst case over all inputs of a type, derived from actual weights.
#pragma once

#include <span>

#include "hardware/integer/fixed.hpp"

namespace mase::integer {

/// Codes from low to high, both included.
struct Interval {
  Wide low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

/// All codes of a type.
Interval interval_of(const FixedType& type);
/// Both, smallest interval around the two.
Interval hull(const Interval& a, const Interval& b);
/// The results for one code of each interval.
Interval sum(const Interval& a, const Interval& b);
Interval product(const Interval& a, const Interval& b);
/// Codes shifted left. The caller has made sure that they stay below 2^126.
Interval shifted(const Interval& a, int bits);

/// Hull over the rows of sum_i row[i] * x with every x in `input`, plus the row's bias. Every
/// partial sum in any order lies in it: `input` holds 0, so each term's interval holds 0, and so
/// does the bias's when it is widened to 0; leaving out terms never leaves the interval of all.
/// `weights` has rows of `row_length`; `bias` has one entry per row or none.
Interval matrix_interval(std::span<const std::int64_t> weights, std::int64_t row_length,
                         std::span<const Wide> bias, const Interval& input);
/// The same for every row of `row_length` weights and every bias of these intervals.
Interval matrix_interval(const Interval& weight, std::int64_t row_length, const Interval& bias,
                         const Interval& input);

}  // namespace mase::integer
