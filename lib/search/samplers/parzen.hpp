// SPDX-License-Identifier: Apache-2.0
// Parzen estimator: a mixture of products of kernels, one product per observation and the prior.
#pragma once

#include <memory>
#include <vector>

#include "search/samplers/parzen_axis.hpp"

namespace mase::samplers {

/// Values by dimension: [dimension][observation], the oldest observation first.
using Columns = std::vector<std::vector<double>>;

/// 1 for the newest 25 observations; older ones fall linearly, to 1/count for the oldest.
std::vector<double> recency_weights(std::size_t count);

/// A density over several dimensions: a weighted mixture of one kernel per observation and the
/// prior.
class ParzenEstimator {
 public:
  /// `weights`: one per observation, the prior's not among them; they need no norm.
  ParzenEstimator(const std::vector<const Distribution*>& dimensions, const Columns& observations,
                  std::vector<double> weights, const ParzenOptions& options);

  /// `count` points, as columns: each takes all its values from one kernel.
  Columns draw(std::size_t count, Random& random) const;
  /// The logarithm of the density (for countable dimensions: probability) of each point.
  std::vector<double> log_density(const Columns& points) const;

  const std::vector<double>& weights() const { return weights_; }  ///< sum 1, the prior last

 private:
  std::size_t draw_kernel(Random& random) const;

  std::vector<std::unique_ptr<ParzenAxis>> axes_;
  std::vector<double> weights_;
  std::vector<double> cumulative_;
  std::vector<double> constants_;  ///< of each kernel: what its log density has at every point
};

}  // namespace mase::samplers
