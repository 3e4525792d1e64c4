// SPDX-License-Identifier: Apache-2.0
// The runner average_bitwidth.
#pragma once

#include <array>

#include "search/runners/runner.hpp"

namespace mase::search {

/// The table `[search.strategy.hw_runner.average_bitwidth]`.
struct AverageBitwidth {
  static constexpr RunnerDoc doc{"average_bitwidth", RunnerKind::hardware,
                                 "Bits per element, by the pass average_bits."};
  static constexpr std::array metrics{
      MetricDoc{"average_bitwidth", Direction::minimize,
                "bits per element of the weights and biases"},
      MetricDoc{"memory_density", Direction::maximize, "compare_to / average_bitwidth"}};
  double compare_to = 32;
  bool activations = false, shared_bits = true;
  static constexpr auto fields() {
    using A = AverageBitwidth;
    return std::tuple{
        Field{"compare_to", &A::compare_to, "bits of the baseline"}.between(1, 64),
        Field{"activations", &A::activations, "count activations as well as parameters"},
        Field{"shared_bits", &A::shared_bits, "count exponents and scales that elements share"}};
  }
  std::unique_ptr<Runner> make(const Bench& bench) const;
};

}  // namespace mase::search
