// SPDX-License-Identifier: Apache-2.0
// Paths of elementwise modules.
#include "hardware/design/modules/paths.hpp"

namespace mase::design {
namespace {

Width accumulator(const ModuleParameters& p) { return {static_cast<int>(p.integer("ACCW"))}; }

Path operands_path(const ModuleParameters& p, const char* b, const char* b_signed) {
  return product_path(signed_bits(p, "AW", "ASIGNED"), signed_bits(p, b, b_signed),
                      p.integer("MULTIPLIER"));
}

}  // namespace

Paths scale_shift_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t lanes = p.integer("LANES"), blocks = p.integer("BLOCKS");
  const Path product = operands_path(p, "SW", "SSIGNED");
  const Path rounded = rounding_path(p, accumulator(p), technology);
  Paths paths{product, rom_path(lanes * p.integer("SW"), blocks, false, technology),
              counter_path(blocks, technology)};
  if (p.integer("HAS_SHIFT") != 0) paths.push_back(summand_path(product, p.integer("ACCW")));
  paths.push_back(rounded);
  return paths;
}

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
