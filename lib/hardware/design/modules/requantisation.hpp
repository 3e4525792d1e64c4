// SPDX-License-Identifier: Apache-2.0
// The parameters that modules which round and clamp share.
#pragma once

#include <cstdint>
#include <tuple>

#include "hardware/design/module_parameters.hpp"

namespace mase::design {

/// A group of parameters, the base of the structs of modules that have it. See
/// hw_templates/elementwise/mase_requantise_stage.
struct Requantisation {
  int out_bits = 8, shift = 0;
  std::int64_t divisor = 1;
  int rounding = 1;
  Sized low{-128, 64, true}, high{127, 64, true};

  static constexpr auto fields() {
    return std::tuple{
        Field{"OW", &Requantisation::out_bits, "bits of an element that leaves"}.at_least(1),
        Field{"SHIFT", &Requantisation::shift,
              "power of two that divides; a negative one multiplies"},
        Field{"DIVISOR", &Requantisation::divisor, "what divides, too"}.at_least(1),
        Field{"ROUND", &Requantisation::rounding,
              "0: rounds down, 1: to the nearest, ties to even, 2: ties away from zero"}
            .at_least(0),
        Field{"LOW", &Requantisation::low, "the least result"},
        Field{"HIGH", &Requantisation::high, "the greatest result"}};
  }
};

/// The parameters of a requantisation to a type. An exact sum of more than 64 bits, which passes no
/// bound, has the least result above the greatest: there is none then.
Requantisation requantisation(const integer::Requantise& requantise, const integer::FixedType& to);

}  // namespace mase::design
