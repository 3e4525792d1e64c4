// SPDX-License-Identifier: Apache-2.0
// The Parzen estimator: a mixture with a product of kernels for each observation and for the prior.
#pragma once

#include <memory>
#include <vector>

#include "search/samplers/parzen_axis.hpp"

namespace mase::samplers {

/// Values by dimension: [dimension][observation], the oldest observation first.
using Columns = std::vector<std::vector<double>>;

/// Weights: 1 for the newest 25 observations, then falling linearly to 1/count for the oldest.
std::vector<double> recency_weights(std::size_t count);

/// A density over several dimensions: a weighted mixture of one kernel per observation and the
/// prior.
class ParzenEstimator {
 public:
  /// `weights` has one weight per observation, without the prior's. They need not be normalised.
  ParzenEstimator(const std::vector<const Distribution*>& dimensions, const Columns& observations,
                  std::vector<double> weights, const ParzenOptions& options);

  /// Draws `count` points, as columns. Each point takes all its values from one kernel.
  Columns draw(std::size_t count, Random& random) const;
  /// The logarithm of the density of each point (of the probability for countable dimensions).
  std::vector<double> log_density(const Columns& points) const;

  const std::vector<double>& weights() const { return weights_; }  ///< sum 1, the prior last

 private:
  std::size_t draw_kernel(Random& random) const;

  std::vector<std::unique_ptr<ParzenAxis>> axes_;
  std::vector<double> weights_;
  std::vector<double> cumulative_;
  std::vector<double> constants_;  ///< for each kernel, the constant part of its log density
};

}  // namespace mase::samplers
