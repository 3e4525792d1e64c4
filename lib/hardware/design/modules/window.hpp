// SPDX-License-Identifier: Apache-2.0
// Module mase_window.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/window_geometry.hpp"

namespace mase::design {

class StepBuilder;

/// Sliding windows, a beat a cycle: a ring of pixels with its reader. A kernel of one pixel without
/// padding needs no ring, and picks what it passes on.
struct WindowModule : WindowGeometry {
  static constexpr std::string_view module_name = "mase_window";
  std::int64_t blocks = 1, lanes = 1;
  int bits = 8;
  Sized pad{0, 8, false};

  static constexpr auto fields() {
    using M = WindowModule;
    return std::tuple_cat(
        image_fields(),
        std::tuple{
            Field{"BLOCKS", &M::blocks, "blocks of channels, of which each has windows"}.at_least(
                1)},
        window_fields(),
        std::tuple{Field{"LANES", &M::lanes, "elements of a beat"}.at_least(1),
                   Field{"DW", &M::bits, "bits of an element"}.at_least(1),
                   Field{"PAD", &M::pad, "the element outside of the image"}});
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

/// Whether a kernel spans more than its own pixel, so that pixels must be kept.
bool window_needed(const integer::Window& window);
/// A window of `blocks` channel blocks per pixel, with the lanes of `in`.
StreamId add_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                    std::int64_t blocks, Wide pad);

}  // namespace mase::design
