// SPDX-License-Identifier: Apache-2.0
// The definition of the binary format for one element.
#include "formats/low_bit/binary_scalar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mase::formats {

bool binary_code(const BinarySpec& spec, float x, std::uint64_t index) {
  if (spec.stochastic) {
    const double probability = std::clamp((static_cast<double>(x) + 1.0) / 2.0, 0.0, 1.0);
    return stochastic_offset(spec.seed, index) < probability;
  }
  return spec.bipolar ? x >= 0.0F : x > 0.0F;
}

float binary_value(const BinarySpec& spec, bool code, float alpha) {
  if (code) return alpha;
  return spec.bipolar ? 0.0F - alpha : alpha * 0.0F;
}

float quantize_binary_scalar(const BinarySpec& spec, float x, float alpha, std::uint64_t index) {
  if (std::isnan(x) && spec.profile == Profile::exact) return x;
  return binary_value(spec, binary_code(spec, x, index), alpha);
}

kernels::ThreeWay binary_three_way(const BinarySpec& spec, float alpha) {
  const float low = binary_value(spec, false, alpha);
  // x >= 0 means above the first number below 0.
  return {spec.bipolar ? -std::numeric_limits<float>::denorm_min() : 0.0F,
          -std::numeric_limits<float>::infinity(),
          alpha,
          low,
          low,
          spec.profile == Profile::exact};
}

}  // namespace mase::formats
