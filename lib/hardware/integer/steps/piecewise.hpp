// SPDX-License-Identifier: Apache-2.0
// Functions of one input in straight pieces.
#pragma once

#include "hardware/integer/steps/pieces.hpp"

namespace mase::integer {

/// y = base[s] + slope[s] * l, where l are the low bits of x and s the bits above them: a function
/// of one input in 2^(width - low_bits) straight pieces of one length.
struct Piecewise : Pieces {
  Wide operator()(std::int64_t code) const {
    const auto bits = static_cast<std::uint64_t>(code);
    const std::uint64_t low = bits & ((std::uint64_t{1} << low_bits) - 1);
    return at((bits >> low_bits) & (slope.size() - 1), static_cast<std::int64_t>(low));
  }

  std::string_view step_kind() const { return "piecewise"; }
  std::string details() const { return details_of("segments"); }

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t i) { return static_cast<Sum>((*this)(frame.in()[i])); });
  }
};

}  // namespace mase::integer
