// SPDX-License-Identifier: Apache-2.0
// The parameters of a step's requantisation.
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

namespace {

int parameter_of(formats::Rounding rounding) {
  if (rounding == formats::Rounding::floor) return 0;
  return rounding == formats::Rounding::nearest_away ? 2 : 1;
}

}  // namespace

Requantisation requantisation(const integer::Requantise& requantise, const integer::FixedType& to) {
  return {.out_bits = to.width,
          .shift = requantise.shift,
          .divisor = requantise.divisor,
          .rounding = parameter_of(requantise.rounding),
          .low = Sized{requantise.low, 64, true},
          .high = Sized{requantise.high, 64, true}};
}

}  // namespace mase::design
