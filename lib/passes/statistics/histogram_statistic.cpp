// SPDX-License-Identifier: Apache-2.0
// Gives a Histogram the interface of statistics.
#include "passes/statistics/histogram_statistic.hpp"

#include <cmath>

namespace mase::passes {

void HistogramStatistic::add(const Samples& samples) {
  if (!histogram_) histogram_.emplace(bins + bins % 2);
  if (!abs) return histogram_->add(samples.values);
  std::vector<float> magnitudes;
  for (const float value : samples.values) magnitudes.push_back(std::fabs(value));
  histogram_->add(magnitudes);
}

Tree HistogramStatistic::result() const {
  Tree result = Tree::dict();
  result["counts"] = histogram_ ? Tree::list_of(histogram_->counts()) : Tree::list();
  result["low"] = histogram_ ? histogram_->low() : 0.0;
  result["width"] = histogram_ ? histogram_->width() : 0.0;
  result["count"] = histogram_ ? histogram_->count() : 0;
  return result;
}

}  // namespace mase::passes
