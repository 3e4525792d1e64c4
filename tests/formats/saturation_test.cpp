// SPDX-License-Identifier: Apache-2.0
// Which float32 numbers lie beyond the range of a format, whose ends may be no float32 numbers.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "formats/format.hpp"

using namespace mase;

TEST_CASE("float32 numbers beyond the exact range saturate, its neighbours within do not") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const char* text :
       {"integer(8, 4)", "integer(32, 10)", "integer(32, -90)", "integer(27, 3, is_signed=false)",
        "fp8_e4m3", "fp8_e5m2", "minifloat_ieee(16, 8)", "log(8)", "log(4, 3)"}) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    const formats::Range range = format.range();
    std::vector<float> numbers{0, 1, -1, infinity, -infinity, NAN};
    for (const double limit : {range.low, range.high}) {
      const auto near = static_cast<float>(limit);
      for (const float number :
           {near, std::nextafter(near, infinity), std::nextafter(near, -infinity)})
        numbers.push_back(number);
    }
    std::vector<std::uint8_t> mask(numbers.size());
    format.saturates(numbers, mask, {static_cast<std::int64_t>(numbers.size())});
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      INFO(numbers[i]);
      const auto number = static_cast<double>(numbers[i]);
      CHECK(bool(mask[i]) == (number < range.low || number > range.high));
    }
  }
}
