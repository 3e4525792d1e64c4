// SPDX-License-Identifier: Apache-2.0
// Module mase_reduce.
#pragma once

#include "hardware/design/modules/lane_reduction.hpp"
#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// The maxima or sums of so many beats, lane by lane.
struct ReduceModule : LaneReduction {
  static constexpr std::string_view module_name = "mase_reduce";
  std::int64_t beats = 4;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"N", &ReduceModule::beats, "beats that give one"}.at_least(1)},
        LaneReduction::fields());
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

}  // namespace mase::design
