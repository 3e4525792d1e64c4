// SPDX-License-Identifier: Apache-2.0
// Sums of squares in double.
#include "data/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace mase::data {

double Distance::sqnr_db() const {
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(reference / noise);
}

double Distance::cosine() const {
  if (reference == 0 && values == 0) return 1;
  return reference == 0 || values == 0 ? 0 : product / std::sqrt(reference * values);
}

double Distance::rms() const {
  return elements == 0 ? 0 : std::sqrt(noise / static_cast<double>(elements));
}

void Distance::add(const Array& reference_array, const Array& array) {
  if (reference_array.shape() != array.shape())
    file_error("an output has shape " + shape_text(array.shape()) + ", but in float it has shape " +
               shape_text(reference_array.shape()));
  const Array expected = reference_array.to_float32(), found = array.to_float32();
  const auto from = expected.span<float>(), to = found.span<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double x = from[i], y = to[i];
    ++elements;
    // Elements that are masked in both, with infinity or NaN, do not differ.
    if (x == y && !std::isfinite(x)) continue;
    if (std::isnan(x) && std::isnan(y)) continue;
    if (!std::isfinite(x) || !std::isfinite(y))
      file_error("element " + std::to_string(elements - 1) + " of an output is " +
                 std::to_string(y) + ", but " + std::to_string(x) + " in float");
    reference += x * x;
    values += y * y;
    product += x * y;
    noise += (x - y) * (x - y);
    worst = std::max(worst, std::fabs(x - y));
  }
}

}  // namespace mase::data
