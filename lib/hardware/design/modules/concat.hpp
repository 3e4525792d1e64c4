// SPDX-License-Identifier: Apache-2.0
// Module mase_concat.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// `first` beats of one stream, then `second` beats of another, again and again.
struct ConcatModule {
  static constexpr std::string_view module_name = "mase_concat";
  std::int64_t width = 8, first = 1, second = 1;

  static constexpr auto fields() {
    return std::tuple{Field{"W", &ConcatModule::width, "bits of a beat"}.at_least(1),
                      Field{"A_BEATS", &ConcatModule::first, "beats of a at a time"}.at_least(1),
                      Field{"B_BEATS", &ConcatModule::second, "beats of b at a time"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<ConcatModule>> measured();
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
