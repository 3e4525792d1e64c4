// SPDX-License-Identifier: Apache-2.0
// Grows by doubling: two bins that meet at an odd multiple of the old width become one.
#include "passes/statistics/histogram.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace mase::passes {

Histogram::Histogram(std::int64_t bins)
    : counts_(static_cast<std::size_t>(std::max<std::int64_t>(bins, 2))), half_(bins / 2) {
  MASE_CHECK(bins > 0 && bins % 2 == 0, "a histogram needs an even number of bins");
}

void Histogram::add(std::span<const float> values) {
  for (const float value : values)
    if (std::isfinite(value)) cover(value);
  // Zeros alone give no width: they are counted in the bin that begins at 0.
  const double scale = width_ > 0 ? 1 / width_ : 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    ++counts_[static_cast<std::size_t>(std::int64_t(std::floor(value * scale)) + half_)];
    ++count_;
  }
}

void Histogram::cover(double value) {
  const auto reach = double(half_);
  if (value == 0) return;
  if (width_ == 0) {
    int exponent = 0;
    std::frexp(std::fabs(value) / reach, &exponent);
    width_ = std::ldexp(1.0, exponent - 1);
  }
  while (value < -width_ * reach || value >= width_ * reach) double_width();
}

void Histogram::double_width() {
  std::vector<std::int64_t> merged(counts_.size());
  for (std::int64_t i = 0; i < 2 * half_; ++i) {
    const std::int64_t from_zero = i - half_;
    const std::int64_t pair = (from_zero >= 0 ? from_zero : from_zero - 1) / 2;
    merged[static_cast<std::size_t>(pair + half_)] += counts_[static_cast<std::size_t>(i)];
  }
  counts_ = std::move(merged);
  width_ *= 2;
}

std::vector<float> Histogram::centers() const {
  std::vector<float> centers;
  for (std::int64_t i = 0; i < 2 * half_; ++i)
    centers.push_back(static_cast<float>((double(i - half_) + 0.5) * width_));
  return centers;
}

}  // namespace mase::passes
