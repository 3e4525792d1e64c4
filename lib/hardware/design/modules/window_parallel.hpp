// SPDX-License-Identifier: Apache-2.0
// Module mase_window_parallel.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/window_geometry.hpp"

namespace mase::design {

class StepBuilder;

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

/// For each beat of a pixel the whole window of its lanes.
StreamId add_parallel_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                             Wide pad);
/// Cycles per frame of a parallel window of `beats` beats a pixel in front of a matrix that reads
/// each window in `columns` beats, `passes` times. Not less than it takes, and exact but for few
/// shapes: rows of one or two windows, and several passes over several columns.
std::int64_t parallel_window_interval(const integer::Window& window, std::int64_t beats,
                                      std::int64_t columns, std::int64_t passes);

}  // namespace mase::design
