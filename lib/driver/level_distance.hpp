// SPDX-License-Identifier: Apache-2.0
// How far the integer level, which hardware computes, is from the quantized level.
#pragma once

#include <string>
#include <vector>

#include "base/array.hpp"
#include "hardware/integer/program.hpp"

namespace mase::driver {

/// The differences between the results of the two levels, of which each has as many.
class LevelDistance {
 public:
  void add(const Array& quantized, const Array& integer);
  double largest() const { return largest_; }
  double scale() const { return scale_; }  ///< the largest result
  /// The share of results that differ by more than a part of the largest one.
  double share_beyond(double part) const;
  /// Whether more results are further apart than rounding of float32 explains: sums are off by far
  /// less than a thousandth of the largest result, and few lie so close to a tie that another code
  /// follows.
  bool is_beyond_float32() const { return share_beyond(1e-3) > 0.05; }
  std::string text() const;  ///< in one sentence

 private:
  std::vector<double> differences_;
  double largest_ = 0, scale_ = 0;
};

/// Whether hardware computes some function with fewer bits than float32, beside its exact sums.
bool approximates(const integer::Program& program);

}  // namespace mase::driver
