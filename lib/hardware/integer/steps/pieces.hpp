// SPDX-License-Identifier: Apache-2.0
// Straight pieces: what the steps have in common that compute a function of one input by them.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Lines base[s] + slope[s] * l, where l are some bits of the input and s tells its piece.
struct Pieces {
  std::string function;  ///< "sigmoid"
  int low_bits = 1;      ///< of l
  FixedType slope_type = {};
  Codes slope = {};             ///< one for each piece
  std::vector<Wide> base = {};  ///< aligned to the accumulator
  double largest_error = 0;     ///< of the result, in units of its last place

  Wide at(std::size_t piece, std::int64_t low) const {
    return base[piece] + Wide{slope[piece]} * low;
  }
  Interval accumulators() const;  ///< the range of all of them, whatever l is

  std::string_view name() const { return function; }
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

 protected:
  std::string details_of(const std::string& parts) const;
};

}  // namespace mase::integer
