// SPDX-License-Identifier: Apache-2.0
// Module mase_skid.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// A two-entry buffer.
struct SkidModule {
  static constexpr std::string_view module_name = "mase_skid";
  std::int64_t width = 8;

  static constexpr auto fields() {
    return std::tuple{Field{"W", &SkidModule::width, "bits of a beat"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

}  // namespace mase::design
