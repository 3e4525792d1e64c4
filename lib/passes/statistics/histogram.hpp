// SPDX-License-Identifier: Apache-2.0
// Histogram: counts in bins whose width is a power of two, so that it can grow and stay exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mase::passes {

/// Bin i counts the finite values in [low() + i * width(), low() + (i + 1) * width()). The middle
/// edge is 0, and the width is the smallest power of two that gives every value seen so far a bin.
/// A value outside doubles the width by adding up pairs of bins, which is exact; so the counts do
/// not depend on the order of the values or on the batches in which they came.
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
  double width_ = 0;  ///< 0 until it has seen a value other than 0
};

}  // namespace mase::passes
