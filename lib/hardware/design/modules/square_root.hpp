// SPDX-License-Identifier: Apache-2.0
// Module mase_square_root.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// The whole part of the root of (x << shift) + addend.
struct SquareRootModule {
  static constexpr std::string_view module_name = "mase_square_root";
  std::int64_t lanes = 1;
  int in_bits = 8, shift = 0;
  Sized addend{0, 64, false};
  int root_bits = 4;

  static constexpr auto fields() {
    return std::tuple{
        Field{"LANES", &SquareRootModule::lanes, "elements of a beat"}.at_least(1),
        Field{"IW", &SquareRootModule::in_bits, "bits of an element that comes"}.at_least(1),
        Field{"SHIFT", &SquareRootModule::shift, "places by which it is shifted left"},
        Field{"ADDEND", &SquareRootModule::addend, "what is added then"},
        Field{"QW", &SquareRootModule::root_bits, "bits of the largest root"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
