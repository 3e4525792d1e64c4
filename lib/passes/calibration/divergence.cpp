// SPDX-License-Identifier: Apache-2.0
// Bins, their quantized centers, and the sums over bins with the same quantized value.
#include "passes/calibration/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace mase::passes {
namespace {

constexpr double least_mass = 0x1p-40;

/// The bins between those that saturate: [first, last).
struct Kept {
  std::size_t first = 0, last = 0;
};

Kept kept_bins(const std::vector<std::uint8_t>& saturated) {
  Kept kept;
  while (kept.first < saturated.size() && saturated[kept.first]) ++kept.first;
  kept.last = saturated.size();
  while (kept.last > kept.first && saturated[kept.last - 1]) --kept.last;
  return kept;
}

/// The counts with the mass of saturating bins moved to the two edges.
std::vector<double> reference(const std::vector<std::int64_t>& counts, Kept kept) {
  std::vector<double> mass(counts.begin(), counts.end());
  for (std::size_t i = 0; i < kept.first; ++i) mass[kept.first] += std::exchange(mass[i], 0.0);
  for (std::size_t i = kept.last; i < mass.size(); ++i)
    mass[kept.last - 1] += std::exchange(mass[i], 0.0);
  return mass;
}

/// The mass of each step of the format, spread over the bins that `reference` fills.
std::vector<double> spread(const std::vector<std::int64_t>& counts,
                           const std::vector<double>& reference, const std::vector<float>& value,
                           Kept kept) {
  std::vector<double> mass(counts.size());
  for (std::size_t begin = kept.first; begin < kept.last;) {
    std::size_t end = begin;
    double sum = 0, filled = 0;
    for (; end < kept.last && value[end] == value[begin]; ++end) {
      sum += double(counts[end]);
      filled += reference[end] > 0;
    }
    for (std::size_t i = begin; i < end; ++i)
      if (reference[i] > 0) mass[i] = sum / filled;
    begin = end;
  }
  return mass;
}

double total(const std::vector<double>& mass) {
  double sum = 0;
  for (const double m : mass) sum += m;
  return sum;
}

}  // namespace

double divergence(const Histogram& histogram, const formats::Format& format) {
  const std::vector<float> centers = histogram.centers();
  const Shape shape{static_cast<std::int64_t>(centers.size())};
  std::vector<float> value(centers.size());
  std::vector<std::uint8_t> saturated(centers.size());
  format.quantize(centers, value, shape);
  format.saturates(centers, saturated, shape);
  const Kept kept = kept_bins(saturated);
  if (kept.first == kept.last) return std::numeric_limits<double>::infinity();
  const std::vector<double> p = reference(histogram.counts(), kept);
  const std::vector<double> q = spread(histogram.counts(), p, value, kept);
  const double p_total = total(p), q_total = total(q);
  if (q_total == 0) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = kept.first; i < kept.last; ++i)
    if (p[i] > 0)
      sum += p[i] / p_total * std::log(p[i] / p_total / std::max(q[i] / q_total, least_mass));
  return sum;
}

}  // namespace mase::passes
