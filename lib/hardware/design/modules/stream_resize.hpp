// SPDX-License-Identifier: Apache-2.0
// Module mase_stream_resize.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// A stream in another number of lanes.
struct ResizeModule {
  static constexpr std::string_view module_name = "mase_stream_resize";
  std::int64_t width = 8, in_lanes = 4, out_lanes = 1;

  static constexpr auto fields() {
    return std::tuple{
        Field{"W", &ResizeModule::width, "bits of an element"}.at_least(1),
        Field{"IN_LANES", &ResizeModule::in_lanes, "elements of a beat that comes"}.at_least(1),
        Field{"OUT_LANES", &ResizeModule::out_lanes, "elements of a beat that leaves"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<ResizeModule>> measured();
  static ModuleRow row();
};

}  // namespace mase::design
