// SPDX-License-Identifier: Apache-2.0
// Truncated normal kernels of a numeric dimension. They have densities or, with a step, the
// probabilities of intervals of half a step on both sides.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "search/samplers/normal.hpp"
#include "search/samplers/parzen_axis.hpp"

namespace mase::samplers {
namespace {

/// The indices that sort the values. The sort is stable.
std::vector<std::size_t> sorted_order(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

/// The larger of the distances to the two neighbours, or to the ends of the range. Without
/// `endpoints`, the outermost kernels only count the inner neighbour.
std::vector<double> neighbour_distances(std::span<const double> centres, double low, double high,
                                        bool endpoints) {
  const std::size_t count = centres.size();
  const auto order = sorted_order(centres);
  std::vector<double> distance(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double here = centres[order[i]];
    const bool first = i == 0, last = i + 1 == count, inwards = !endpoints && count > 1;
    const double left = here - (first ? low : centres[order[i - 1]]);
    const double right = (last ? high : centres[order[i + 1]]) - here;
    distance[order[i]] = first && inwards ? right : last && inwards ? left : std::max(left, right);
  }
  return distance;
}

/// A continuous axis, with a density at every number of the range.
class ContinuousAxis : public ParzenAxis {
 public:
  explicit ContinuousAxis(NumericKernels kernels) : kernels_(std::move(kernels)) {
    for (double width : kernels_.width) scaled_.push_back(std::numbers::sqrt2 / 2 / width);
  }

  double draw(std::size_t kernel, Random& random) const override {
    const double centre = kernels_.centre[kernel], width = kernels_.width[kernel];
    const double q = random.uniform();
    const double z = truncated_normal_quantile(q, (kernels_.low - centre) / width,
                                               (kernels_.high - centre) / width);
    return kernels_.from_scale(centre + z * width);
  }

  void add_constants(std::span<double> row) const override {
    const double log_sqrt_2pi = 0.5 * std::log(2 * std::numbers::pi);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double centre = kernels_.centre[k], width = kernels_.width[k];
      row[k] -= log_normal_mass((kernels_.low - centre) / width, (kernels_.high - centre) / width) +
                std::log(width) + log_sqrt_2pi;
    }
  }

  void add_log_densities(std::span<const double> values, LogDensities& out) const override {
    const double* centre = kernels_.centre.data();
    const double* scaled = scaled_.data();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = kernels_.to_scale(values[i]);
      double* row = out.row(i).data();
      for (std::size_t k = 0; k < out.kernels; ++k) {
        const double z = (x - centre[k]) * scaled[k];
        row[k] -= z * z;
      }
    }
  }

 protected:
  NumericKernels kernels_;
  std::vector<double> scaled_;  ///< 1 / (sqrt(2) width)
};

/// An axis with probabilities of the values low, low + step, ... Usually there are few values and
/// few different kernels, so each pair is computed only once.
class SteppedAxis : public ContinuousAxis {
 public:
  explicit SteppedAxis(NumericKernels kernels) : ContinuousAxis(std::move(kernels)) {
    const auto& [centre, width] = std::tie(kernels_.centre, kernels_.width);
    std::vector<std::size_t> order(centre.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t k) { return std::pair(centre[k], width[k]); };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    different_of_.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || key(order[i]) != key(order[i - 1])) different_.push_back(order[i]);
      different_of_[order[i]] = different_.size() - 1;
    }
  }

  void add_constants(std::span<double> row) const override {
    add(row, log_masses(kernels_.low, kernels_.high), -1);
  }

  void add_log_densities(std::span<const double> values, LogDensities& out) const override {
    std::vector<double> masses;
    double computed = std::nan("");
    for (std::size_t i : sorted_order(values)) {
      if (values[i] != computed)
        masses = log_masses(kernels_.to_scale(values[i] - kernels_.step / 2),
                            kernels_.to_scale(values[i] + kernels_.step / 2));
      computed = values[i];
      add(out.row(i), masses, 1);
    }
  }

 private:
  std::vector<double> log_masses(double from, double to) const {
    std::vector<double> masses;
    masses.reserve(different_.size());
    for (std::size_t k : different_)
      masses.push_back(log_normal_mass((from - kernels_.centre[k]) / kernels_.width[k],
                                       (to - kernels_.centre[k]) / kernels_.width[k]));
    return masses;
  }

  void add(std::span<double> row, const std::vector<double>& masses, double sign) const {
    for (std::size_t k = 0; k < row.size(); ++k) row[k] += sign * masses[different_of_[k]];
  }

  std::vector<std::size_t> different_;     ///< one kernel for each centre and width
  std::vector<std::size_t> different_of_;  ///< index of the equal kernel in it
};

}  // namespace

NumericKernels::NumericKernels(const Distribution& distribution,
                               std::span<const double> observations, const ParzenOptions& options) {
  if (const auto* real = std::get_if<FloatDistribution>(&distribution)) {
    log = real->log, step = real->step.value_or(0);
    lowest = real->low, highest = real->high;
  } else {
    const auto& integer = std::get<IntDistribution>(distribution);
    log = integer.log, step = static_cast<double>(integer.step);
    lowest = static_cast<double>(integer.low);
  }
  if (step > 0) highest = value_at(distribution, *cardinality(distribution) - 1);
  low = to_scale(lowest - step / 2);
  high = to_scale(highest + step / 2);
  for (double value : observations) centre.push_back(to_scale(value));
  width = neighbour_distances(centre, low, high, options.consider_endpoints);
  // Kernels are at least as wide as the mean distance of that many points, at most 100.
  const double range = high - low;
  const double least = range / std::min(100.0, static_cast<double>(observations.size()) + 2);
  for (double& value : width) value = std::clamp(value, least, range);
  centre.push_back(0.5 * (low + high));
  width.push_back(range);
}

double NumericKernels::to_scale(double internal) const {
  return log ? std::log(internal) : internal;
}

double NumericKernels::from_scale(double value) const {
  double internal = log ? std::exp(value) : value;
  if (step > 0) internal = lowest + std::nearbyint((internal - lowest) / step) * step;
  return std::clamp(internal, lowest, highest);
}

std::unique_ptr<ParzenAxis> make_axis(const Distribution& distribution,
                                      std::span<const double> observations,
                                      const ParzenOptions& options) {
  if (const auto* categorical = std::get_if<CategoricalDistribution>(&distribution))
    return make_categorical_axis(categorical->choices.size(), observations, options);
  NumericKernels kernels(distribution, observations, options);
  // If steps are so small that an interval's probability has few digits, its density can be used
  // instead, because the length of the interval is the same for every kernel.
  constexpr std::int64_t most_steps = 10'000'000;
  if (cardinality(distribution).value_or(most_steps) < most_steps)
    return std::make_unique<SteppedAxis>(std::move(kernels));
  return std::make_unique<ContinuousAxis>(std::move(kernels));
}

}  // namespace mase::samplers
