// SPDX-License-Identifier: Apache-2.0
// The runner count_operations.
#pragma once

#include <array>

#include "search/runners/runner.hpp"

namespace mase::search {

/// The table `[search.strategy.hw_runner.count_operations]`.
struct CountOperations {
  static constexpr RunnerDoc doc{
      "count_operations", RunnerKind::hardware,
      "Parameters and operations of one sample, by the pass of that name."};
  static constexpr std::array metrics{
      MetricDoc{"parameters", Direction::minimize, "elements of weights and biases"},
      MetricDoc{"macs", Direction::minimize, "multiply-accumulates of one sample"},
      MetricDoc{"flops", Direction::minimize, "floating-point operations of one sample"},
      MetricDoc{"bitops", Direction::minimize,
                "MACs x weight bits x activation bits of one sample"}};
  static constexpr auto fields() { return std::tuple{}; }
  std::unique_ptr<Runner> make(const Bench& bench) const;
};

}  // namespace mase::search
