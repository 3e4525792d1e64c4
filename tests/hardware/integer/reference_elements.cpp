// SPDX-License-Identifier: Apache-2.0
// Element formats as docs/formats.md defines them, in 113-bit floating point.
#include <algorithm>
#include <map>

#include "reference.hpp"
#include "reference_evaluation.hpp"

namespace mase::test {
namespace {

/// A minifloat's bits and its largest number.
struct Minifloat {
  int mantissa = 3, bias = 7;
  Real most = 448;
};

Real magnitude_of(Real number) { return number < 0 ? -number : number; }

/// The exponent of the leading bit.
int exponent_of(Real magnitude) {
  int exponent = 0;
  for (; magnitude >= 2; magnitude /= 2) ++exponent;
  for (; magnitude < 1; magnitude *= 2) --exponent;
  return exponent;
}

Minifloat minifloat_of(const formats::Format& format) {
  static const std::map<std::string, Minifloat, std::less<>> named{{"fp8_e4m3", {3, 7, 448}},
                                                                   {"fp8_e5m2", {2, 15, 57344}},
                                                                   {"fp6_e3m2", {2, 3, 28}},
                                                                   {"fp6_e2m3", {3, 1, Real(7.5)}},
                                                                   {"fp4_e2m1", {1, 1, 6}}};
  const auto known = named.find(format.name());
  if (known != named.end()) return known->second;
  // minifloat_ieee with inf_nan none: all codes are numbers.
  const Tree fields = format.fields();
  const auto width = static_cast<int>(fields.at("width").as_int()),
             exponents = static_cast<int>(fields.at("exponent_width").as_int());
  const int mantissa = width - exponents - 1, bias = (1 << (exponents - 1)) - 1;
  const Real top = power_of_two((1 << exponents) - 1 - bias);
  return {mantissa, bias, top * (2 - power_of_two(-mantissa))};
}

Real minifloat(Real x, const formats::Format& format) {
  const Minifloat spec = minifloat_of(format);
  const Real magnitude = magnitude_of(x);
  if (magnitude >= spec.most) return x < 0 ? -spec.most : spec.most;
  if (magnitude == 0) return 0;
  const int exponent = std::max(exponent_of(magnitude), 1 - spec.bias);
  const Real step = power_of_two(exponent - spec.mantissa);
  const Real rounded = nearest_even(magnitude / step) * step;
  const Real inside = std::min(rounded, spec.most);
  return x < 0 ? -inside : inside;
}

/// The nearest power of two in the log domain; half of the least magnitude and below is 0.
Real power(Real x, const formats::Format& format) {
  const auto width = static_cast<int>(format.fields().at("width").as_int());
  const int bias = (1 << (width - 2)) - 1, highest = (1 << (width - 1)) - 1 - bias;
  const Real magnitude = magnitude_of(x);
  if (magnitude <= power_of_two(-bias)) return 0;
  if (magnitude >= power_of_two(highest))
    return x < 0 ? -power_of_two(highest) : power_of_two(highest);
  const int below = exponent_of(magnitude);
  const Real part = magnitude / power_of_two(below);
  const int exponent = std::clamp(part * part > 2 ? below + 1 : below, 1 - bias, highest);
  return x < 0 ? -power_of_two(exponent) : power_of_two(exponent);
}

/// Without a hidden bit: the significand is below 1.
Real unhidden(Real x, const formats::Format& format) {
  const Tree fields = format.fields();
  const auto width = static_cast<int>(fields.at("width").as_int()),
             exponents = static_cast<int>(fields.at("exponent_width").as_int());
  const int mantissa = width - exponents - 1, bias = (1 << (exponents - 1)) - 1;
  const int highest = (1 << exponents) - 1 - bias;
  const Real most = power_of_two(highest) * (1 - power_of_two(-mantissa));
  const Real magnitude = magnitude_of(x);
  if (magnitude == 0) return 0;
  if (magnitude >= most) return x < 0 ? -most : most;
  const int exponent = std::min(std::max(exponent_of(magnitude) + 1, -bias), highest);
  const Real step = power_of_two(exponent - mantissa);
  const Real inside = std::min(nearest_even(magnitude / step) * step, most);
  return x < 0 ? -inside : inside;
}

/// Plane after plane, each the sign of what is left.
Real planes(Real x, const formats::Format& format) {
  const Tree fields = format.fields();
  Real left = x, sum = 0;
  for (const Tree& mean : fields.at("means").as_list()) {
    const auto plane = static_cast<Real>(left < 0 ? -mean.as_double() : mean.as_double());
    sum += plane;
    left -= plane;
  }
  return sum;
}

Real sign_beyond(Real x, Real threshold) { return x > threshold ? 1 : x < -threshold ? -1 : 0; }

/// Numbers with a factor, which is a float32 number, and by itself exact.
struct Slice {
  std::vector<Real> numbers;
  Real factor = 1;
};

/// Whole numbers up to `high` in steps of the largest magnitude over it.
Slice integers(std::vector<Real> x, int width) {
  double peak = 0;
  for (const Real one : x) peak = std::max(peak, static_cast<double>(magnitude_of(one)));
  const double high = static_cast<double>(power_of_two(width - 1)) - 1;
  const Real step = peak == 0 ? Real(1) : static_cast<Real>(static_cast<float>(peak / high));
  for (Real& one : x) one = std::clamp<Real>(nearest_even(one / step), -high, high);
  return {std::move(x), step};
}

/// Signs of what is above a threshold, times the mean of these magnitudes.
Slice signs(std::vector<Real> x, double threshold, bool has_zero) {
  double sum = 0, count = 0;
  for (Real& one : x) {
    const auto magnitude = static_cast<double>(magnitude_of(one));
    const bool counts = !has_zero || magnitude > threshold;
    if (counts) sum += magnitude, ++count;
    one = !counts ? 0 : one < 0 ? -1 : 1;
  }
  return {std::move(x), static_cast<float>(count == 0 ? 0 : sum / count)};
}

Slice slice_of(std::vector<Real> x, const formats::Format& format) {
  const Tree fields = format.fields();
  if (format.name() == "scale_integer")
    return integers(std::move(x), static_cast<int>(fields.at("width").as_int()));
  if (format.name() == "binary") return signs(std::move(x), 0, false);
  return signs(std::move(x), fields.at("threshold").as_double(), true);
}

}  // namespace

bool scales_elements(const formats::Format& format) {
  const Tree fields = format.fields();
  const auto is_set = [&](const char* field) {
    const Tree* value = fields.find(field);
    return value && *value == Tree(true);
  };
  return format.name() == "scale_integer" || is_set("scaled") || is_set("scaling_factor");
}

RealTensor scaled(RealTensor tensor, const formats::Format& format) {
  const bool rows = format.name() == "scale_integer";
  const auto size = rows ? static_cast<std::size_t>(tensor.shape.back())
                         : tensor.values.size() / static_cast<std::size_t>(tensor.shape.front());
  for (auto first = tensor.values.begin(); first != tensor.values.end();
       first += static_cast<std::ptrdiff_t>(size)) {
    const Slice slice =
        slice_of(std::vector<Real>(first, first + static_cast<std::ptrdiff_t>(size)), format);
    std::ranges::transform(slice.numbers, first, [&](Real one) { return one * slice.factor; });
  }
  return tensor;
}

Real element(Real number, const formats::Format& format) {
  if (format.name() == "minifloat_denorm") return unhidden(number, format);
  if (format.name() == "binary_residual") return planes(number, format);
  if (format.name() == "log") return power(number, format);
  if (format.name() == "binary") return number >= 0 ? 1 : -1;
  if (format.name() == "ternary")
    return sign_beyond(number, static_cast<Real>(format.fields().at("threshold").as_double()));
  return minifloat(number, format);
}

}  // namespace mase::test
