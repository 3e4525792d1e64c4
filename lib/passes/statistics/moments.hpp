// SPDX-License-Identifier: Apache-2.0
// Mean and variance of streams: merged batch by batch, or from sums kept in twice the precision.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/statistics/samples.hpp"

namespace mase::passes {

/// Count, mean and M2 = sum (x - mean)^2 per cell. A batch b is merged with the values a before it
/// by delta = mean_b - mean_a; mean = mean_a + delta n_b / n; M2 = M2_a + M2_b + delta^2 n_a n_b
/// / n (Chan, Golub, LeVeque: "Updating Formulae and a Pairwise Algorithm for Computing Sample
/// Variances", 1979). Within a batch, two passes in double compute mean and M2.
class MergedMoments {
 public:
  void add(const Cells& cells, const Samples& samples, bool magnitudes);

  std::int64_t count() const { return count_; }  ///< values in each cell
  const std::vector<double>& means() const { return means_; }
  /// Population variance, M2 / count.
  std::vector<double> variances() const;

 private:
  std::int64_t count_ = 0;
  std::vector<double> means_, m2_;
};

/// A sum held in two doubles. Its error is about 2^-104 of the sum of magnitudes (error-free
/// additions of Dekker and Knuth).
struct LongSum {
  double high = 0, low = 0;
  void add(double value);
};

/// Sums of values and of their squares. The squares of float32 numbers are exact, so mean and
/// variance are right to double precision however far the mean is from 0.
class PreciseMoments {
 public:
  void add(const Cells& cells, const Samples& samples, bool magnitudes);

  std::int64_t count() const { return count_; }
  std::vector<double> means() const;
  /// Sample variance, sum (x - mean)^2 / (count - 1); count is 2 or more.
  std::vector<double> variances() const;

 private:
  std::int64_t count_ = 0;
  std::vector<LongSum> sums_, squares_;
};

}  // namespace mase::passes
