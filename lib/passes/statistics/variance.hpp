// SPDX-License-Identifier: Apache-2.0
// The statistics `variance_online`, `variance_precise` and `abs_mean`.
#pragma once

#include <optional>

#include "passes/statistics/moments.hpp"
#include "passes/statistics/statistic.hpp"

namespace mase::passes {

/// Result: "mean", "variance", "count" (values in each cell). The variance is the population's,
/// M2 / count, merged over batches. With fewer than two values, mean and variance are "NA".
struct VarianceOnline {
  static constexpr StatisticDoc doc{"variance_online", "Mean and population variance, merged."};
  Dims dims;
  static constexpr auto fields() { return std::tuple{}; }
  void add(const Samples& samples);
  Tree result() const;

 private:
  std::optional<Cells> cells_;
  MergedMoments moments_;
};

/// Result: the same keys. The variance is the sample's, M2 / (count - 1), to double precision.
struct VariancePrecise {
  static constexpr StatisticDoc doc{"variance_precise", "Mean and sample variance, precise."};
  Dims dims;
  static constexpr auto fields() { return std::tuple{}; }
  void add(const Samples& samples);
  Tree result() const;

 private:
  std::optional<Cells> cells_;
  PreciseMoments moments_;
};

/// Result: "abs_mean", "count".
struct AbsMean {
  static constexpr StatisticDoc doc{"abs_mean", "Mean of the magnitudes."};
  Dims dims;
  static constexpr auto fields() { return std::tuple{}; }
  void add(const Samples& samples);
  Tree result() const;

 private:
  std::optional<Cells> cells_;
  PreciseMoments moments_;
};

}  // namespace mase::passes
