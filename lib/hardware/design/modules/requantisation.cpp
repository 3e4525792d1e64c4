// SPDX-License-Identifier: Apache-2.0
// The parameters of a step's requantisation.
#include "hardware/design/modules/requantisation.hpp"

#include "base/error.hpp"

namespace mase::design {

namespace {

int parameter_of(formats::Rounding rounding) {
  if (rounding == formats::Rounding::floor) return 0;
  return rounding == formats::Rounding::nearest_away ? 2 : 1;
}

}  // namespace

Requantisation requantisation(const integer::Requantise& requantise, const integer::FixedType& to) {
  Wide low = requantise.low, high = requantise.high;
  if (integer::signed_width(low, high) > 64) {
    MASE_CHECK(low == to.low() && high == to.high(), "an exact sum needs no bounds");
    low = 0;
    high = -1;
  }
  return {.out_bits = to.width,
          .shift = requantise.shift,
          .divisor = requantise.divisor,
          .rounding = parameter_of(requantise.rounding),
          .low = Sized{low, 64, true},
          .high = Sized{high, 64, true}};
}

}  // namespace mase::design
