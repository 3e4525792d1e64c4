// SPDX-License-Identifier: Apache-2.0
// The parameters of a step's requantisation.
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

Requantisation requantisation(const integer::Requantise& requantise, const integer::FixedType& to) {
  return {.out_bits = to.width,
          .shift = requantise.shift,
          .divisor = requantise.divisor,
          .to_nearest = requantise.rounding == formats::Rounding::nearest_even,
          .low = Sized{requantise.low, 64, true},
          .high = Sized{requantise.high, 64, true}};
}

}  // namespace mase::design
