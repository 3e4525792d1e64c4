// SPDX-License-Identifier: Apache-2.0
// Paths of elementwise modules.
#include "hardware/design/modules/paths.hpp"

namespace mase::design {
namespace {

Width accumulator(const ModuleParameters& p) { return {static_cast<int>(p.integer("ACCW"))}; }

}  // namespace

Paths channel_shift_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  Paths paths{rounding_path(p, accumulator(p), technology)};
  if (p.integer("BLOCKS") == 1) return paths;
  paths.push_back(
      rom_path(p.integer("LANES") * p.integer("LW"), p.integer("BLOCKS"), false, technology));
  paths.push_back({.what = "shift",
                   .luts = static_cast<double>(p.integer("LW")),
                   .readers = static_cast<double>(p.integer("ACCW"))});
  return paths;
}

}  // namespace mase::design
