// SPDX-License-Identifier: Apache-2.0
// Module mase_divide.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// The exact quotient of two streams, element by element, rounded once.
struct DivideModule : Requantisation {
  static constexpr std::string_view module_name = "mase_divide";
  std::int64_t lanes = 1;
  int a_bits = 8;
  bool a_signed = true;
  int a_shift = 5, b_bits = 8;
  bool b_signed = true;
  int b_shift = 0, quotient_bits = 9;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"LANES", &DivideModule::lanes, "elements of a beat"}.at_least(1),
            Field{"AW", &DivideModule::a_bits, "bits of an element of a, the numerator"}.at_least(
                1),
            Field{"ASIGNED", &DivideModule::a_signed, "whether it has a sign"},
            Field{"ASHIFT", &DivideModule::a_shift, "places by which it is shifted left"}.at_least(
                0),
            Field{"BW", &DivideModule::b_bits, "bits of an element of b, the divisor"}.at_least(1),
            Field{"BSIGNED", &DivideModule::b_signed, "whether it has a sign"},
            Field{"BSHIFT", &DivideModule::b_shift, "places by which it is shifted left"}.at_least(
                0),
            Field{"QW", &DivideModule::quotient_bits,
                  "bits of the quotient without sign, one below those of the result"}
                .at_least(1)},
        Requantisation::fields());
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
