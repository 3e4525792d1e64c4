// SPDX-License-Identifier: Apache-2.0
// Resampling along one axis: where each place of the result lies in the input, and what it takes of
// the places there. The formulas are those of ONNX's documentation of Resize.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/array.hpp"

namespace mase::onnx {

/// How an axis is resampled.
struct Resampling {
  std::int64_t in = 0, out = 0;  ///< sizes
  double scale = 1;              ///< out / in, but for rounding
  double start = 0, end = 1;     ///< the part that tf_crop_and_resize takes
  std::string coordinates = "half_pixel", nearest = "round_prefer_floor";
  bool cubic = false, antialias = false, exclude_outside = false;
  double cubic_a = -0.75;

  /// The place in the input of each place of the result, as a number.
  std::vector<double> places() const;
  /// Whether one of the places lies outside of the input, where tf_crop_and_resize extrapolates.
  bool extrapolates() const;
  /// The nearest places.
  std::vector<std::int64_t> nearest_places() const;
  /// A matrix float32[out, in] whose rows are the weights of linear or cubic interpolation.
  Array weights() const;

 private:
  double place(std::int64_t i) const;
  double kernel(double distance) const;
};

}  // namespace mase::onnx
