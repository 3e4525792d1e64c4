// SPDX-License-Identifier: Apache-2.0
// Computes places and weights.
#include "onnx/import/resampling.hpp"

#include <algorithm>
#include <cmath>

namespace mase::onnx {

double Resampling::place(std::int64_t i) const {
  const double at = static_cast<double>(i), size = static_cast<double>(in);
  const double count = scale * size;  // of the result, before it was rounded
  if (coordinates == "asymmetric") return at / scale;
  if (coordinates == "align_corners") return out == 1 ? 0 : at * (size - 1) / (count - 1);
  if (coordinates == "tf_crop_and_resize")
    return out > 1 ? start * (size - 1) +
                         at * (end - start) * (size - 1) / (static_cast<double>(out) - 1)
                   : (start + end) * (size - 1) / 2;
  if (coordinates == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (coordinates == "pytorch_half_pixel" && out == 1) return -0.5;
  const double half_pixel = (at + 0.5) / scale - 0.5;
  if (coordinates != "half_pixel_symmetric") return half_pixel;
  return half_pixel + size / 2 * (1 - static_cast<double>(out) / count);
}

std::vector<double> Resampling::places() const {
  std::vector<double> all;
  for (std::int64_t i = 0; i < out; ++i) all.push_back(place(i));
  return all;
}

bool Resampling::extrapolates() const {
  return coordinates == "tf_crop_and_resize" && std::ranges::any_of(places(), [&](double at) {
           return at < 0 || at > static_cast<double>(in - 1);
         });
}

std::vector<std::int64_t> Resampling::nearest_places() const {
  std::vector<std::int64_t> all;
  for (const double at : places()) {
    double place = std::ceil(at - 0.5);  // round_prefer_floor
    if (nearest == "round_prefer_ceil") place = std::floor(at + 0.5);
    if (nearest == "floor") place = std::floor(at);
    if (nearest == "ceil") place = std::ceil(at);
    all.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(place), 0, in - 1));
  }
  return all;
}

double Resampling::kernel(double distance) const {
  const double x = std::fabs(distance), a = cubic_a;
  if (!cubic) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// A place takes neighbours on both sides of it, more of them where antialiasing widens the kernel.
/// Those outside of the input are the nearest ones inside.
Array Resampling::weights() const {
  const double narrow = antialias ? std::min(scale, 1.0) : 1.0;
  const double support = cubic ? 2 : 1;
  const auto first = static_cast<std::int64_t>(std::floor(-support / narrow)) + 1;
  Array matrix(DType::float32, {out, in});
  const auto cells = matrix.mutable_span<float>();
  for (std::int64_t row = 0; row < out; ++row) {
    const double at = place(row);
    const auto left = static_cast<std::int64_t>(std::ceil(at)) - 1;
    std::vector<double> line(static_cast<std::size_t>(in), 0.0);
    double sum = 0;
    for (std::int64_t tap = left + first; tap <= left + 1 - first; ++tap) {
      const bool outside = tap < 0 || tap >= in;
      if (outside && exclude_outside) continue;
      const double weight = kernel((static_cast<double>(tap) - at) * narrow);
      line[static_cast<std::size_t>(std::clamp<std::int64_t>(tap, 0, in - 1))] += weight;
      sum += weight;
    }
    const double divisor = antialias || exclude_outside ? sum : 1;
    for (std::int64_t column = 0; column < in; ++column)
      cells[static_cast<std::size_t>(row * in + column)] =
          static_cast<float>(line[static_cast<std::size_t>(column)] / divisor);
  }
  return matrix;
}

}  // namespace mase::onnx
