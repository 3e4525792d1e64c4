// SPDX-License-Identifier: Apache-2.0
// Rows of a constant table, chosen by a stream.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Each number gives its row of a table, `columns` codes; one beyond the table gives the last row.
struct Embedding {
  std::int64_t columns = 1;
  Codes table;  ///< [rows][columns]

  std::int64_t rows() const { return static_cast<std::int64_t>(table.size()) / columns; }

  std::int64_t index_end() const { return rows(); }

  std::string_view step_kind() const { return "embedding"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const {
    return std::to_string(rows()) + " rows of " + std::to_string(columns);
  }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::stays;

  template <class Self, class See>
  static void constants(Self& self, const FixedType& output, See&& see) {
    see(entries(self.table, output));
  }
  static constexpr bool replaceable = false;
  std::optional<Interval> bounds(const Interval&) const { return std::nullopt; }

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    const std::int64_t last = rows() - 1;
    for (std::int64_t i = 0; i * columns < frame.elements(); ++i) {
      const std::int64_t* row = table.data() + std::min(frame.in()[i], last) * columns;
      std::copy_n(row, columns, frame.out() + i * columns);
    }
  }
};

}  // namespace mase::integer
