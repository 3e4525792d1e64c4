// SPDX-License-Identifier: Apache-2.0
// Module mase_block_shift.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// Elements shifted by the exponents that their blocks share.
struct BlockShiftModule : Requantisation {
  static constexpr std::string_view module_name = "mase_block_shift";
  std::int64_t lanes = 1;
  int a_bits = 8;
  bool a_signed = true;
  int b_bits = 3;
  bool right = false;
  int places = 0, result_bits = 16;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"LANES", &BlockShiftModule::lanes, "elements of a beat"}.at_least(1),
            Field{"AW", &BlockShiftModule::a_bits, "bits of an element"}.at_least(1),
            Field{"ASIGNED", &BlockShiftModule::a_signed, "whether it has a sign"},
            Field{"BW", &BlockShiftModule::b_bits, "bits of its distance"}.between(1, 7),
            Field{"RIGHT", &BlockShiftModule::right, "0: to the left, 1: to the right"},
            Field{"PLACES", &BlockShiftModule::places,
                  "places more to the right; negative: to the left, before"},
            Field{"ACCW", &BlockShiftModule::result_bits, "bits of the exact result, with its sign"}
                .at_least(1)},
        Requantisation::fields());
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<BlockShiftModule>> measured();
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
