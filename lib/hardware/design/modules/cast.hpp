// SPDX-License-Identifier: Apache-2.0
// Module mase_cast.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// Elements of another type, rounded and clamped.
struct CastModule : Requantisation {
  static constexpr std::string_view module_name = "mase_cast";
  std::int64_t lanes = 1;
  int in_bits = 16;
  bool in_signed = true;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"LANES", &CastModule::lanes, "elements of a beat"}.at_least(1),
                   Field{"IW", &CastModule::in_bits, "bits of an element that comes"}.at_least(1),
                   Field{"ISIGNED", &CastModule::in_signed, "whether it has a sign"}},
        Requantisation::fields());
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
