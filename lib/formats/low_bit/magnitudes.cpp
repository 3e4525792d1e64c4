// SPDX-License-Identifier: Apache-2.0
// Means of magnitudes in both profiles.
#include "formats/low_bit/magnitudes.hpp"

#include <cmath>
#include <limits>

#include "formats/low_bit/three_way_kernel.hpp"
#include "formats/scalars.hpp"

namespace mase::formats {
namespace {

// The reference's sum when some elements are not finite.
double sum_of_all(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += std::fabs(static_cast<double>(value));
  return sum;
}

}  // namespace

MagnitudeSum sum_magnitudes(std::span<const float> values, float above) {
  return kernels::three_way_kernels(simd::best_isa())
      .sum_magnitudes(values.data(), values.size(), above);
}

double mean_magnitude(std::span<const float> values, Profile profile) {
  const MagnitudeSum finite = sum_magnitudes(values, -1);
  if (profile == Profile::reference && finite.count != static_cast<std::int64_t>(values.size()))
    return sum_of_all(values);
  if (finite.count == 0) return profile == Profile::reference ? quiet_nan : 0.0;
  return finite.sum / static_cast<double>(finite.count);
}

double mean_magnitude_above(std::span<const float> values, float above, Profile profile) {
  const MagnitudeSum found = sum_magnitudes(values, above);
  if (found.count == 0) return profile == Profile::reference ? quiet_nan : 0.0;
  return found.sum / static_cast<double>(found.count);
}

}  // namespace mase::formats
