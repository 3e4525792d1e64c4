// SPDX-License-Identifier: Apache-2.0
// Module mase_repeat.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// Every element `count` times, in beats of `lanes`.
struct RepeatModule {
  static constexpr std::string_view module_name = "mase_repeat";
  std::int64_t width = 8, count = 4, lanes = 1;

  static constexpr auto fields() {
    return std::tuple{
        Field{"W", &RepeatModule::width, "bits of an element"}.at_least(1),
        Field{"COUNT", &RepeatModule::count, "how often an element leaves, a multiple of LANES"}
            .at_least(1),
        Field{"LANES", &RepeatModule::lanes, "elements of a beat that leaves"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
