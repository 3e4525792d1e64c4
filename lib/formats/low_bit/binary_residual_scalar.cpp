// SPDX-License-Identifier: Apache-2.0
// The definition of residual binary values for one element.
#include "formats/low_bit/binary_residual_scalar.hpp"

#include <algorithm>
#include <cmath>

namespace mase::formats {
namespace {

float upstream_sign(float residual) {
  if (std::isnan(residual)) return residual;
  const float c = std::clamp(residual, -1.0F, 1.0F);
  const float sign = c > 0.0F ? 1.0F : c < 0.0F ? -1.0F : 0.0F;
  return c + (sign - c);
}

// Calls visit(level, beta) for every level; T is the type of residuals.
template <class T, class Sign, class Visit>
void walk(const ResidualSpec& spec, float x, const Sign& sign, const Visit& visit) {
  T residual = x;
  for (std::size_t level = 0; level < spec.means.size(); ++level) {
    const T beta = sign(residual);
    visit(level, beta);
    residual -= beta * static_cast<T>(spec.means[level]);
  }
}

template <class Visit>
void walk(const ResidualSpec& spec, float x, const Visit& visit) {
  if (spec.profile == Profile::reference)
    walk<float>(spec, x, upstream_sign, visit);
  else
    walk<double>(
        spec, x, [](double r) { return r < 0.0 ? -1.0 : 1.0; }, visit);
}

}  // namespace

void residual_planes(const ResidualSpec& spec, float x, std::span<float> planes) {
  walk(spec, x, [&](std::size_t level, auto beta) {
    planes[level] =
        std::isnan(x) ? x : static_cast<float>(beta) * static_cast<float>(spec.means[level]);
  });
}

std::uint32_t residual_code(const ResidualSpec& spec, float x) {
  std::uint32_t code = 0;
  walk(spec, x, [&](std::size_t level, auto beta) {
    code |= static_cast<std::uint32_t>(beta >= 0) << level;
  });
  return code;
}

float residual_value(const ResidualSpec& spec, std::uint32_t code) {
  double exact = 0;
  float reference = 0;
  for (std::size_t level = 0; level < spec.means.size(); ++level) {
    const double value = ((code >> level) & 1U) != 0 ? spec.means[level] : -spec.means[level];
    exact += value;
    reference += static_cast<float>(value);
  }
  return spec.profile == Profile::reference ? reference : static_cast<float>(exact);
}

float quantize_residual_scalar(const ResidualSpec& spec, float x) {
  if (std::isnan(x)) return x;
  if (spec.profile == Profile::exact) return residual_value(spec, residual_code(spec, x));
  float sum = 0;
  walk(spec, x, [&](std::size_t level, auto beta) {
    sum += static_cast<float>(beta) * static_cast<float>(spec.means[level]);
  });
  return sum;
}

}  // namespace mase::formats
