// SPDX-License-Identifier: Apache-2.0
// The minifloats that standards name: OCP FP8, FP6 and FP4, IEEE 754 half and its relatives.
#pragma once

#include <array>
#include <string_view>

#include "formats/minifloat/minifloat_scalar.hpp"

namespace mase::formats {

struct MinifloatElement {
  std::string_view name;
  int width, exponent_width, exponent_bias;
  Specials specials;

  constexpr MinifloatSpec spec() const { return {width, exponent_width, exponent_bias, specials}; }
};

inline constexpr std::array<MinifloatElement, 9> minifloat_elements{{
    {"e5m2", 8, 5, 15, Specials::ieee},
    {"e4m3fn", 8, 4, 7, Specials::fn},
    {"e3m2", 6, 3, 3, Specials::none},
    {"e2m3", 6, 2, 1, Specials::none},
    {"e2m1", 4, 2, 1, Specials::none},
    {"e4m3", 8, 4, 7, Specials::ieee},
    {"e3m4", 8, 3, 3, Specials::ieee},
    {"float16", 16, 5, 15, Specials::ieee},
    {"bfloat16", 16, 8, 127, Specials::ieee},
}};

/// The element with a name of the table (a field has checked the name).
const MinifloatElement& find_element(std::string_view name);

}  // namespace mase::formats
