// SPDX-License-Identifier: Apache-2.0
// Module mase_binary.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// Two streams, element by element: their sum, difference or product, or one of the two.
struct BinaryModule : Requantisation {
  static constexpr std::string_view module_name = "mase_binary";
  int operation = 0;
  std::int64_t lanes = 1;
  int a_bits = 8;
  bool a_signed = true;
  int a_shift = 0, b_bits = 8;
  bool b_signed = true;
  int b_shift = 0, result_bits = 16, multiplier = 0;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"OP", &BinaryModule::operation,
                  "0: a + b, 1: a - b, 2: a * b, 3: the larger, 4: the smaller"}
                .between(0, 4),
            Field{"LANES", &BinaryModule::lanes, "elements of a beat"}.at_least(1),
            Field{"AW", &BinaryModule::a_bits, "bits of an element of a"}.at_least(1),
            Field{"ASIGNED", &BinaryModule::a_signed, "whether it has a sign"},
            Field{"ASHIFT", &BinaryModule::a_shift,
                  "places by which it is shifted left, but for a product"}
                .at_least(0),
            Field{"BW", &BinaryModule::b_bits, "bits of an element of b"}.at_least(1),
            Field{"BSIGNED", &BinaryModule::b_signed, "whether it has a sign"},
            Field{"BSHIFT", &BinaryModule::b_shift,
                  "places by which it is shifted left, but for a product"}
                .at_least(0),
            Field{"ACCW", &BinaryModule::result_bits, "bits of the exact result, with its sign"}
                .at_least(1)},
        Requantisation::fields(), std::tuple{multiplier_field(&BinaryModule::multiplier)});
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
