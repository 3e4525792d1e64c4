// SPDX-License-Identifier: Apache-2.0
// Constants around the rows of a stream.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Constants around the rows of a frame: `before` of them, elements / rows of the input, `after` of
/// them, in each. Codes stand in the order in which they leave and begin anew behind the last one.
struct Insert {
  std::int64_t rows = 1, before = 0, after = 0;
  Codes codes = {};

  std::string_view step_kind() const { return "insert"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return std::to_string(before) + " before and " + std::to_string(after) + " after each of " +
           std::to_string(rows) + " rows";
  }
  static constexpr bool only_moves = true;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::stays;

  template <class Self, class See>
  static void constants(Self& self, const FixedType& output, See&& see) {
    see(entries(self.codes, output));
  }
  static constexpr bool replaceable = false;
  std::optional<Interval> bounds(const Interval&) const { return std::nullopt; }

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    const std::int64_t kept = frame.elements() / rows - before - after;
    std::size_t next = 0;
    std::int64_t* out = frame.out();
    const auto insert = [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i, next = (next + 1) % codes.size())
        *out++ = codes[next];
    };
    for (std::int64_t row = 0; row < rows; ++row) {
      insert(before);
      out = std::copy_n(frame.in() + row * kept, kept, out);
      insert(after);
    }
  }
};

}  // namespace mase::integer
