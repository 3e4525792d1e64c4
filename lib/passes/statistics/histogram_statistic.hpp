// SPDX-License-Identifier: Apache-2.0
// The statistic `histogram`.
#pragma once

#include <optional>

#include "passes/statistics/histogram.hpp"
#include "passes/statistics/statistic.hpp"

namespace mase::passes {

/// Result: "counts" (per bin), "low" (left edge of the first bin), "width" (of every bin), "count".
/// The bins are those of Histogram: their width is a power of two, and the middle edge is 0.
struct HistogramStatistic {
  static constexpr StatisticDoc doc{"histogram", "Counts in bins of equal width around 0."};
  bool abs = false;
  std::int64_t bins = 64;
  static constexpr auto fields() {
    return std::tuple{
        Field{"abs", &HistogramStatistic::abs, "take magnitudes"},
        Field{"bins", &HistogramStatistic::bins, "number of bins; odd: one more"}.between(2,
                                                                                          1 << 20)};
  }
  void add(const Samples& samples);
  Tree result() const;

 private:
  std::optional<Histogram> histogram_;
};

}  // namespace mase::passes
