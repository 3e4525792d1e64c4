// SPDX-License-Identifier: Apache-2.0
// Reading "2,12:int64:0..30522".
#include "driver/loading/made_input.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

namespace mase::driver {
namespace {

struct Range {
  double low = 0, high = 0;
};

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  config_error("input shape '" + text + "': " + reason +
               "; write SHAPE, SHAPE:DTYPE or SHAPE:DTYPE:LOW..HIGH, such as 4,3,32,32 or "
               "2,12:int64:0..30522");
}

Shape shape_of(const std::string& text, const std::string& all) {
  Shape shape;
  for (const std::string& part : split(text, ',')) {
    const auto size = parse_int(trim(part));
    if (!size || *size < 1) refuse(all, "sizes must be positive integers");
    shape.push_back(*size);
  }
  return shape;
}

Range range_of(const std::string& text, const std::string& all) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) refuse(all, "a range must read LOW..HIGH");
  const auto low = parse_double(trim(text.substr(0, dots)));
  const auto high = parse_double(trim(text.substr(dots + 2)));
  if (!low || !high || !(*low < *high) || !std::isfinite(*high - *low))
    refuse(all, "a range must read LOW..HIGH, two numbers with LOW below HIGH");
  return {*low, *high};
}

template <class T>
void fill(Array& array, const Range& range, std::uint64_t seed, const std::string& all) {
  using Limits = std::numeric_limits<T>;
  // All numbers are below HIGH, so HIGH may exceed the largest number of the type by one.
  const bool fits = range.low >= static_cast<double>(Limits::lowest()) &&
                    range.high - (Limits::is_integer ? 1 : 0) <= static_cast<double>(Limits::max());
  if (!fits) refuse(all, "the range does not fit the type");
  Random random(seed);
  for (T& value : array.mutable_span<T>()) {
    const double drawn = random.uniform(range.low, range.high);
    value = static_cast<T>(Limits::is_integer ? std::floor(drawn) : drawn);
  }
}

void fill(Array& array, const Range& range, std::uint64_t seed, const std::string& all) {
  switch (array.dtype()) {
    case DType::float32:
      return fill<float>(array, range, seed, all);
    case DType::float64:
      return fill<double>(array, range, seed, all);
    case DType::int64:
      return fill<std::int64_t>(array, range, seed, all);
    case DType::int32:
      return fill<std::int32_t>(array, range, seed, all);
    case DType::int16:
      return fill<std::int16_t>(array, range, seed, all);
    case DType::int8:
      return fill<std::int8_t>(array, range, seed, all);
    case DType::uint8:
      return fill<std::uint8_t>(array, range, seed, all);
    case DType::boolean:
      return fill<bool>(array, range, seed, all);
    default:
      refuse(all, "no range is supported for " + std::string(dtype_name(array.dtype())));
  }
}

DType type_of(const std::string& text, const std::string& all) {
  try {
    return parse_dtype(text);
  } catch (const Error& error) {
    refuse(all, error.what());
  }
}

}  // namespace

Array made_input(const std::string& text, std::uint64_t seed) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 3) refuse(text, "too many parts");
  const DType dtype = parts.size() > 1 ? type_of(parts[1], text) : DType::float32;
  Array array(dtype, shape_of(parts[0], text));
  if (parts.size() > 2) fill(array, range_of(parts[2], text), seed, text);
  return array;
}

}  // namespace mase::driver
