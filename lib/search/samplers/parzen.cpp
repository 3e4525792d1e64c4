// SPDX-License-Identifier: Apache-2.0
// Draws from the mixture, and computes its density at several points at once.
#include "search/samplers/parzen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace mase::samplers {
namespace {

constexpr std::size_t full_weight_count = 25;

/// The logarithm of the sum of exponentials.
double log_sum(std::span<const double> terms) {
  const double largest = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum);
}

}  // namespace

std::vector<double> recency_weights(std::size_t count) {
  std::vector<double> weights(count, 1.0);
  if (count <= full_weight_count) return weights;
  const std::size_t older = count - full_weight_count;
  const double first = 1 / static_cast<double>(count);
  const double slope = older > 1 ? (1 - first) / static_cast<double>(older - 1) : 0;
  for (std::size_t i = 0; i < older; ++i) weights[i] = first + static_cast<double>(i) * slope;
  return weights;
}

ParzenEstimator::ParzenEstimator(const std::vector<const Distribution*>& dimensions,
                                 const Columns& observations, std::vector<double> weights,
                                 const ParzenOptions& options)
    : weights_(std::move(weights)) {
  MASE_CHECK(dimensions.size() == observations.size(), "a dimension has no observations column");
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    MASE_CHECK(observations[d].size() == weights_.size(), "an observation has no weight");
    axes_.push_back(make_axis(*dimensions[d], observations[d], options));
  }
  weights_.push_back(weights_.empty() ? 1 : options.prior_weight);
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& weight : weights_) weight /= total;
  std::partial_sum(weights_.begin(), weights_.end(), std::back_inserter(cumulative_));
  for (double weight : weights_) constants_.push_back(std::log(weight));
  for (const auto& axis : axes_) axis->add_constants(constants_);
}

std::size_t ParzenEstimator::draw_kernel(Random& random) const {
  const double u = random.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), u);
  return std::min(static_cast<std::size_t>(found - cumulative_.begin()), weights_.size() - 1);
}

Columns ParzenEstimator::draw(std::size_t count, Random& random) const {
  Columns points(axes_.size(), std::vector<double>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t kernel = draw_kernel(random);
    for (std::size_t d = 0; d < axes_.size(); ++d) points[d][i] = axes_[d]->draw(kernel, random);
  }
  return points;
}

std::vector<double> ParzenEstimator::log_density(const Columns& points) const {
  const std::size_t count = points.front().size();
  LogDensities kernels(count, weights_.size());
  for (std::size_t i = 0; i < count; ++i)
    std::copy(constants_.begin(), constants_.end(), kernels.row(i).begin());
  for (std::size_t d = 0; d < axes_.size(); ++d) axes_[d]->add_log_densities(points[d], kernels);
  std::vector<double> densities;
  for (std::size_t i = 0; i < count; ++i) densities.push_back(log_sum(kernels.row(i)));
  return densities;
}

}  // namespace mase::samplers
