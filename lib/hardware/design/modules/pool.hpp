// SPDX-License-Identifier: Apache-2.0
// Module mase_pool.
#pragma once

#include "hardware/design/modules/lane_reduction.hpp"
#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// Maxima or sums of windows that do not overlap, as the pixels come.
struct PoolModule : LaneReduction {
  static constexpr std::string_view module_name = "mase_pool";
  std::int64_t height = 4, width = 4, beats = 1, kernel_y = 2, kernel_x = 2;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"H", &PoolModule::height, "rows of an image"}.at_least(1),
                   Field{"W", &PoolModule::width, "pixels of a row"}.at_least(1),
                   Field{"CF", &PoolModule::beats, "beats of a pixel"}.at_least(1),
                   Field{"KH", &PoolModule::kernel_y, "rows of a window"}.at_least(1),
                   Field{"KW", &PoolModule::kernel_x, "pixels of a window's row"}.at_least(1)},
        LaneReduction::fields());
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
