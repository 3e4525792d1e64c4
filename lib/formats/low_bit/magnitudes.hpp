// SPDX-License-Identifier: Apache-2.0
// Sums of magnitudes, from which binary and ternary formats take scales and thresholds.
#pragma once

#include <cstdint>
#include <span>

#include "formats/rounding.hpp"

namespace mase::formats {

/// Sum and number of some magnitudes.
struct MagnitudeSum {
  double sum = 0;
  std::int64_t count = 0;
};

/// Of all finite |x| > above; `above` = -1 takes them all. The order of additions is part of the
/// definition, so that every machine finds the same double: element i belongs to lane i mod 16, a
/// lane adds its elements in their order from 0 on, and lanes are added as a tree, j to j + 8, then
/// + 4, + 2, + 1. Elements that are left out add 0.
MagnitudeSum sum_magnitudes(std::span<const float> values, float above);

/// Mean of |x|. `exact`: of the finite elements, 0 where there are none, so that one infinity does
/// not take a slice's values with it. `reference`: of all, hence NaN or infinite with them.
double mean_magnitude(std::span<const float> values, Profile profile);

/// Mean of the |x| that are above a limit, in the same sense; without any: 0, or NaN in
/// `reference`.
double mean_magnitude_above(std::span<const float> values, float above, Profile profile);

}  // namespace mase::formats
