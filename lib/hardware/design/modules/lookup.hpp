// SPDX-License-Identifier: Apache-2.0
// Module mase_lookup.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// A function by table, one in each lane.
struct LookupModule {
  static constexpr std::string_view module_name = "mase_lookup";
  std::int64_t lanes = 1;
  int in_bits = 8, out_bits = 8;
  std::string file = {};

  static constexpr auto fields() {
    return std::tuple{
        Field{"LANES", &LookupModule::lanes, "elements of a beat"}.at_least(1),
        Field{"IW", &LookupModule::in_bits, "bits of an element that comes"}.at_least(1),
        Field{"OW", &LookupModule::out_bits, "bits of an element that leaves"}.at_least(1),
        Field{"FILE", &LookupModule::file, "image of the table, a word for each code"}};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
