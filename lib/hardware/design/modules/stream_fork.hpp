// SPDX-License-Identifier: Apache-2.0
// Module mase_stream_fork.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// Copies of a stream.
struct ForkModule {
  static constexpr std::string_view module_name = "mase_stream_fork";
  std::int64_t width = 8, outputs = 2;

  static constexpr auto fields() {
    return std::tuple{Field{"W", &ForkModule::width, "bits of a beat"}.at_least(1),
                      Field{"N", &ForkModule::outputs, "copies, each with a skid"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

}  // namespace mase::design
