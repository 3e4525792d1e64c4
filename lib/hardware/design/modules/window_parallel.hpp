// SPDX-License-Identifier: Apache-2.0
// Module mase_window_parallel.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/window_geometry.hpp"

namespace mase::design {

/// Sliding windows, of which each leaves whole for each beat of a pixel.
struct WindowParallelModule : WindowGeometry {
  static constexpr std::string_view module_name = "mase_window_parallel";
  std::int64_t lanes = 1;
  int bits = 8;
  Sized pad{0, 8, false};

  static constexpr auto fields() {
    using M = WindowParallelModule;
    return std::tuple_cat(image_fields(),
                          std::tuple{Field{"LANES", &M::lanes, "elements of a beat"}.at_least(1)},
                          window_fields(),
                          std::tuple{Field{"DW", &M::bits, "bits of an element"}.at_least(1),
                                     Field{"PAD", &M::pad, "the element outside of the image"}});
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

}  // namespace mase::design
