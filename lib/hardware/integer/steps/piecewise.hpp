// SPDX-License-Identifier: Apache-2.0
// Functions of one input in straight pieces.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// y = base[s] + slope[s] * l, where l are the low bits of x and s the bits above them: a function
/// of one input in straight pieces.
struct Piecewise {
  std::string function;  ///< "sigmoid"
  int low_bits = 1;      ///< of x within its segment
  FixedType slope_type = {};
  Codes slope = {};             ///< one for each of 2^(width - low_bits) segments
  std::vector<Wide> base = {};  ///< aligned to the accumulator
  double largest_error = 0;     ///< over all inputs, in units of the result's last place

  Wide operator()(std::int64_t code) const;
  Interval accumulators() const;  ///< the range of all of them

  std::string_view step_kind() const { return "piecewise"; }
  std::string_view name() const { return function; }
  std::string details() const;
  Approximation approximation() const { return {std::ssize(slope), largest_error}; }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 1; }
  static constexpr CastBehind cast_behind = CastBehind::merges;

  template <class Self, class See>
  static void constants(Self& self, const FixedType&, See&& see) {
    see(factors(self.slope, self.slope_type));
    see(summands(self.base, 0));
  }
  static constexpr bool replaceable = false;
  std::optional<Interval> bounds(const Interval&) const { return accumulators(); }

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) { return static_cast<Sum>((*this)(frame.in()[i])); });
  }
};

}  // namespace mase::integer
