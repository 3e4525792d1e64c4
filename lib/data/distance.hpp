// SPDX-License-Identifier: Apache-2.0
// How far the outputs of a model are from those of a reference, such as the same model in float.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace mase::data {

/// The distance of values y from reference values x, over all elements of all batches.
struct Distance {
  std::int64_t elements = 0;
  double reference = 0;  ///< sum of x^2
  double noise = 0;      ///< sum of (x - y)^2
  double product = 0;    ///< sum of x y
  double values = 0;     ///< sum of y^2
  double worst = 0;      ///< largest |x - y|

  double sqnr_db() const;  ///< 10 log10(sum x^2 / sum (x - y)^2); infinite for equal values
  double cosine() const;   ///< sum x y / sqrt(sum x^2 sum y^2); 1 for two vectors of zeros
  double rms() const;      ///< root of the mean of (x - y)^2; 0 without elements

  /// Adds a batch. Both arrays have the same shape, of any number type. Error(Fault::file) if the
  /// shapes differ, or for an element that is NaN or infinite in only one of them.
  void add(const Array& reference, const Array& values);
};

}  // namespace mase::data
