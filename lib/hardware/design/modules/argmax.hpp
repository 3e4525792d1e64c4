// SPDX-License-Identifier: Apache-2.0
// Module mase_argmax.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// The place of the largest element of a row.
struct ArgmaxModule {
  static constexpr std::string_view module_name = "mase_argmax";
  std::int64_t beats = 4, lanes = 1;
  int in_bits = 8;
  bool in_signed = true;
  int out_bits = 2;

  static constexpr auto fields() {
    return std::tuple{
        Field{"N", &ArgmaxModule::beats, "beats of a row"}.at_least(1),
        Field{"LANES", &ArgmaxModule::lanes, "elements of a beat"}.at_least(1),
        Field{"IW", &ArgmaxModule::in_bits, "bits of an element that comes"}.at_least(1),
        Field{"ISIGNED", &ArgmaxModule::in_signed, "whether it has a sign"},
        Field{"OW", &ArgmaxModule::out_bits, "bits of a place"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
