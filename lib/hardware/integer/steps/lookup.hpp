// SPDX-License-Identifier: Apache-2.0
// Functions of one input as tables.
#pragma once

#include <memory>

#include "hardware/integer/steps/declarations.hpp"

namespace mase::ir {
struct CustomHardware;  // ir/custom_op.hpp
}

namespace mase::integer {

/// y = table[low bits of x]: any function of one input.
struct Lookup {
  std::string function;  ///< "sigmoid"
  Codes table;           ///< 2^width entries, indexed by the input code's bits
  /// The user's module that computes it, and keeps no table in memory; null for ours.
  std::shared_ptr<const ir::CustomHardware> external = nullptr;

  std::string_view step_kind() const { return external ? "external" : "lookup"; }
  std::string_view name() const { return function; }
  std::string details() const { return std::to_string(table.size()) + " entries"; }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return 0; }
  static constexpr CastBehind cast_behind = CastBehind::enters;
  bool takes_casts() const { return !external; }
  void take_cast(const Requantise& cast) {
    for (std::int64_t& code : table) code = static_cast<std::int64_t>(cast(code));
  }

  template <class Self, class See>
  static void constants(Self& self, const FixedType& output, See&& see) {
    if (!self.external) see(entries(self.table, output));
  }
  static constexpr bool replaceable = false;
  std::optional<Interval> bounds(const Interval&) const { return std::nullopt; }

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    const std::uint64_t mask = table.size() - 1;
    for (std::int64_t i = 0; i < frame.elements(); ++i)
      frame.out()[i] = table[static_cast<std::uint64_t>(frame.in()[i]) & mask];
  }
};

}  // namespace mase::integer
