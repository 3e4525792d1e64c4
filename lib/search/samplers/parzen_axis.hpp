// SPDX-License-Identifier: Apache-2.0
// One dimension of a Parzen estimator: a kernel around each observation, and last the prior over
// the whole range. It follows the rules of Optuna 5 (samplers/_tpe): Bergstra et al., NeurIPS 2011,
// with bandwidths from neighbouring observations (Watanabe, arXiv 2304.11127).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "search/samplers/distribution.hpp"

namespace mase::samplers {

/// Options for the shape of kernels.
struct ParzenOptions {
  double prior_weight = 1;
  bool consider_endpoints = false;  ///< the outermost kernels extend to the ends of the range
};

/// Log densities of points under kernels: [point][kernel], one row per point.
struct LogDensities {
  LogDensities(std::size_t points, std::size_t kernel_count)
      : kernels(kernel_count), values(points * kernel_count) {}
  std::span<double> row(std::size_t point) { return {&values[point * kernels], kernels}; }
  std::size_t kernels;
  std::vector<double> values;
};

/// One dimension of the kernels of a mixture.
class ParzenAxis {
 public:
  virtual ~ParzenAxis() = default;
  /// Draws an internal value from one kernel.
  virtual double draw(std::size_t kernel, Random& random) const = 0;
  /// Adds the part of each kernel's log density that does not depend on the value; [kernel].
  virtual void add_constants(std::span<double> row) const = 0;
  /// Adds the rest: the log density of values[i] to row i.
  virtual void add_log_densities(std::span<const double> values, LogDensities& out) const = 0;
};

/// Normal kernels in the scale of the dimension (logarithmic with `log`), truncated to its range. A
/// step widens the range by half a step at both ends.
struct NumericKernels {
  NumericKernels(const Distribution& distribution, std::span<const double> observations,
                 const ParzenOptions& options);
  double from_scale(double value) const;  ///< to an internal value of the distribution
  double to_scale(double internal) const;

  bool log = false;
  double step = 0;                    ///< 0 for a continuous range
  double lowest = 0, highest = 0;     ///< internal values
  double low = 0, high = 0;           ///< the widened range, in the scale
  std::vector<double> centre, width;  ///< one per kernel, the prior last
};

/// Makes the axis of a distribution. Observations are its internal values, the oldest first.
std::unique_ptr<ParzenAxis> make_axis(const Distribution& distribution,
                                      std::span<const double> observations,
                                      const ParzenOptions& options);
std::unique_ptr<ParzenAxis> make_categorical_axis(std::size_t choices,
                                                  std::span<const double> observations,
                                                  const ParzenOptions& options);

}  // namespace mase::samplers
