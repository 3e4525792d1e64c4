// SPDX-License-Identifier: Apache-2.0
// Ranges from moments, from extremes and from order statistics.
#include "passes/statistics/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mase::passes {
namespace {

Tree range_tree(const std::optional<Cells>& cells, const std::vector<double>& low,
                const std::vector<double>& high, std::int64_t count) {
  std::vector<double> range(low.size());
  for (std::size_t c = 0; c < low.size(); ++c) range[c] = high[c] - low[c];
  Tree result = Tree::dict();
  const bool enough = count >= 2;
  result["min"] = enough ? cells->tree(low) : Tree("NA");
  result["max"] = enough ? cells->tree(high) : Tree("NA");
  result["range"] = enough ? cells->tree(range) : Tree("NA");
  result["count"] = count;
  return result;
}

}  // namespace

void RangeNSigma::add(const Samples& samples) {
  const Cells& cells = cells_for(cells_, dims, samples);
  if (var_mode == "online")
    online_.add(cells, samples, abs);
  else
    precise_.add(cells, samples, abs);
}

Tree RangeNSigma::result() const {
  const bool online = var_mode == "online";
  const std::int64_t count = online ? online_.count() : precise_.count();
  if (count < 2) return range_tree(cells_, {}, {}, count);
  std::vector<double> low = online ? online_.means() : precise_.means(), high = low;
  const std::vector<double> variances = online ? online_.variances() : precise_.variances();
  for (std::size_t c = 0; c < low.size(); ++c) {
    low[c] -= num_sigma * std::sqrt(variances[c]);
    high[c] += num_sigma * std::sqrt(variances[c]);
  }
  return range_tree(cells_, low, high, count);
}

void RangeMinMax::add(const Samples& samples) {
  const Cells& cells = cells_for(cells_, dims, samples);
  low_.resize(cells.size(), std::numeric_limits<double>::infinity());
  high_.resize(cells.size(), -std::numeric_limits<double>::infinity());
  cells.for_each(samples, [&](std::size_t c, float x) {
    const double value = abs ? std::fabs(x) : x;
    low_[c] = std::min(low_[c], value);
    high_[c] = std::max(high_[c], value);
  });
  count_ += cells.per_cell(samples);
}

Tree RangeMinMax::result() const { return range_tree(cells_, low_, high_, count_); }

double quantile_of(std::vector<float>& values, double q) {
  const double rank = q * double(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(std::floor(rank));
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  if (rank == double(below)) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + (high - low) * (rank - double(below));
}

void RangeQuantile::add(const Samples& samples) {
  const Cells& cells = cells_for(cells_, dims, samples);
  values_.resize(cells.size());
  cells.for_each(samples,
                 [&](std::size_t c, float x) { values_[c].push_back(abs ? std::fabs(x) : x); });
}

Tree RangeQuantile::result() const {
  const auto count = values_.empty() ? 0 : static_cast<std::int64_t>(values_[0].size());
  std::vector<double> low, high;
  for (std::vector<float> values : values_) {
    if (count < 2) break;
    low.push_back(quantile_of(values, 1 - quantile));
    high.push_back(quantile_of(values, quantile));
  }
  return range_tree(cells_, low, high, count);
}

}  // namespace mase::passes
