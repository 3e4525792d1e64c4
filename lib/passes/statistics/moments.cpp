// SPDX-License-Identifier: Apache-2.0
// The two ways to compute a mean and a variance.
#include "passes/statistics/moments.hpp"

#include <cmath>

namespace mase::passes {
namespace {

double taken(float value, bool magnitude) { return magnitude ? std::fabs(value) : value; }

/// The exact product a * b as a sum of two doubles.
LongSum product(double a, double b) {
  const double high = a * b;
  return {high, std::fma(a, b, -high)};
}

}  // namespace

void MergedMoments::add(const Cells& cells, const Samples& samples, bool magnitudes) {
  const std::int64_t added = cells.per_cell(samples);
  if (added == 0) return;
  means_.resize(cells.size());
  m2_.resize(cells.size());
  std::vector<double> means(cells.size()), m2(cells.size());
  cells.for_each(samples, [&](std::size_t c, float x) { means[c] += taken(x, magnitudes); });
  for (double& mean : means) mean /= double(added);
  cells.for_each(samples, [&](std::size_t c, float x) {
    const double difference = taken(x, magnitudes) - means[c];
    m2[c] += difference * difference;
  });
  const double total = double(count_ + added), share = double(added) / total;
  for (std::size_t c = 0; c < means.size(); ++c) {
    const double delta = means[c] - means_[c];
    means_[c] += delta * share;
    m2_[c] += m2[c] + delta * delta * double(count_) * share;
  }
  count_ += added;
}

std::vector<double> MergedMoments::variances() const {
  std::vector<double> variances = m2_;
  for (double& variance : variances) variance /= double(count_);
  return variances;
}

void LongSum::add(double value) {
  const double sum = high + value;
  const double part = sum - high;
  const double error = (high - (sum - part)) + (value - part);
  low += error;
  high = sum + low;
  low -= high - sum;
}

void PreciseMoments::add(const Cells& cells, const Samples& samples, bool magnitudes) {
  sums_.resize(cells.size());
  squares_.resize(cells.size());
  cells.for_each(samples, [&](std::size_t c, float x) {
    sums_[c].add(taken(x, magnitudes));
    squares_[c].add(double(x) * double(x));
  });
  count_ += cells.per_cell(samples);
}

std::vector<double> PreciseMoments::means() const {
  std::vector<double> means;
  for (const LongSum& sum : sums_) means.push_back((sum.high + sum.low) / double(count_));
  return means;
}

std::vector<double> PreciseMoments::variances() const {
  std::vector<double> variances;
  const auto n = double(count_);
  for (std::size_t c = 0; c < sums_.size(); ++c) {
    // n * squares - sum^2, each in two doubles, so that cancellation happens before rounding.
    LongSum difference = product(n, squares_[c].high);
    difference.add(n * squares_[c].low);
    const LongSum square = product(sums_[c].high, sums_[c].high);
    difference.add(-square.high);
    difference.add(-square.low);
    difference.add(-2 * sums_[c].high * sums_[c].low);
    const double m2 = (difference.high + difference.low) / n;
    variances.push_back(m2 > 0 ? m2 / (n - 1) : 0.0);
  }
  return variances;
}

}  // namespace mase::passes
