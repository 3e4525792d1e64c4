// SPDX-License-Identifier: Apache-2.0
// Histogram: counts in bins whose width is a power of two, so that it grows without losing a count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mase::passes {

/// Bin i holds the finite values in [low() + i * width(), low() + (i + 1) * width()). The middle
/// edge is 0 and the width is the smallest power of two with which every value seen so far has a
/// bin: a value outside doubles the width by adding up pairs of bins, which is exact. The counts
/// hence do not depend on the order of the values or on how they were batched.
class Histogram {
 public:
  /// `bins` is a positive even number.
  explicit Histogram(std::int64_t bins);

  void add(std::span<const float> values);

  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::int64_t count() const { return count_; }  ///< finite values
  double width() const { return width_; }
  double low() const { return -width_ * double(half_); }
  /// The middle of every bin.
  std::vector<float> centers() const;

 private:
  void cover(double value);
  void double_width();

  std::vector<std::int64_t> counts_;
  std::int64_t half_, count_ = 0;
  double width_ = 0;  ///< 0 until a value other than 0 was seen
};

}  // namespace mase::passes
