// SPDX-License-Identifier: Apache-2.0
// Sums of magnitudes, from which binary and ternary formats take scales and thresholds.
#pragma once

#include <cstdint>
#include <span>

#include "formats/rounding.hpp"

namespace mase::formats {

/// The sum and the number of some magnitudes.
struct MagnitudeSum {
  double sum = 0;
  std::int64_t count = 0;
};

/// The sum of all finite |x| > above; `above` = -1 takes all of them. The order of additions is
/// part of the definition, so that every machine gets the same double: element i belongs to lane
/// i mod 16, a lane adds its elements in order, starting from 0, and lanes are added as a tree, j
/// to j + 8, then + 4, + 2, + 1. Elements that are left out add 0.
MagnitudeSum sum_magnitudes(std::span<const float> values, float above);

/// The mean of |x|. `exact`: over the finite elements (0 without any), so that one infinity does
/// not spoil a slice. `reference`: over all elements, hence NaN or infinite if one of them is.
double mean_magnitude(std::span<const float> values, Profile profile);

/// The mean, in the same sense, of those |x| that are above a limit. If there are none, it is 0, or
/// NaN in `reference`.
double mean_magnitude_above(std::span<const float> values, float above, Profile profile);

}  // namespace mase::formats
