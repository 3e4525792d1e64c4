// SPDX-License-Identifier: Apache-2.0
// The statistics of ranges: `range_n_sigma`, `range_min_max` and `range_quantile`.
#pragma once

#include <optional>
#include <string>

#include "passes/statistics/moments.hpp"
#include "passes/statistics/statistic.hpp"

namespace mase::passes {

// Every result has "min", "max", "range" = max - min and "count" (values in each cell); with fewer
// than two values the numbers are "NA". `abs` takes the magnitudes of the values.

/// mean - num_sigma * sigma .. mean + num_sigma * sigma. `var_mode` names the variance: online is
/// the population's, precise the sample's.
struct RangeNSigma {
  static constexpr StatisticDoc doc{"range_n_sigma",
                                    "Mean, and some standard deviations on both sides."};
  Dims dims;
  bool abs = false;
  std::string var_mode = "online";
  double num_sigma = 3;
  static constexpr auto fields() {
    return std::tuple{
        Field{"abs", &RangeNSigma::abs, "take magnitudes"},
        Field{"var_mode", &RangeNSigma::var_mode, "population's or sample's variance"}.one_of(
            "online", "precise"),
        Field{"num_sigma", &RangeNSigma::num_sigma, "standard deviations on each side"}.at_least(
            0)};
  }
  void add(const Samples& samples);
  Tree result() const;

 private:
  std::optional<Cells> cells_;
  MergedMoments online_;
  PreciseMoments precise_;
};

/// Smallest and largest value.
struct RangeMinMax {
  static constexpr StatisticDoc doc{"range_min_max", "Smallest and largest value."};
  Dims dims;
  bool abs = false;
  static constexpr auto fields() {
    return std::tuple{Field{"abs", &RangeMinMax::abs, "take magnitudes"}};
  }
  void add(const Samples& samples);
  Tree result() const;

 private:
  std::optional<Cells> cells_;
  std::int64_t count_ = 0;
  std::vector<double> low_, high_;
};

/// The quantiles at 1 - quantile and at quantile, interpolated linearly between the two nearest
/// ranks (rank h = (n - 1) q, as numpy does by default). Exact at any size: it keeps every value (4
/// bytes each), and selects instead of sorting.
struct RangeQuantile {
  static constexpr StatisticDoc doc{"range_quantile", "Range without the outermost values."};
  Dims dims;
  bool abs = false;
  double quantile = 0.975;
  static constexpr auto fields() {
    return std::tuple{
        Field{"abs", &RangeQuantile::abs, "take magnitudes"},
        Field{"quantile", &RangeQuantile::quantile, "upper quantile; the lower is 1 - quantile"}
            .between(0.5, 1)};
  }
  void add(const Samples& samples);
  Tree result() const;

 private:
  std::optional<Cells> cells_;
  std::vector<std::vector<float>> values_;  ///< by cell
};

/// The q-quantile of `values`, which must not be empty; reorders them.
double quantile_of(std::vector<float>& values, double q);

}  // namespace mase::passes
