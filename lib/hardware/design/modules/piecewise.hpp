// SPDX-License-Identifier: Apache-2.0
// Module mase_piecewise.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// A function in straight pieces: base + slope * low bits, one in each lane.
struct PiecewiseModule : Requantisation {
  static constexpr std::string_view module_name = "mase_piecewise";
  std::int64_t lanes = 1;
  int in_bits = 16, low_bits = 8;
  int slope_bits = 12;
  bool slope_signed = true;
  int base_bits = 20, sum_bits = 20;
  int multiplier = 0;
  std::string file = {};

  /// Those of the lines.
  static constexpr auto line_fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"LB", &PiecewiseModule::low_bits, "its low bits, a place within a piece"}
                .at_least(1),
            Field{"SW", &PiecewiseModule::slope_bits, "bits of a slope"}.at_least(1),
            Field{"SSIGNED", &PiecewiseModule::slope_signed, "whether slopes have a sign"},
            Field{"BW", &PiecewiseModule::base_bits, "bits of a base, with its sign"}.at_least(1),
            Field{"ACCW", &PiecewiseModule::sum_bits, "bits of the sum, with its sign"}.at_least(
                1)},
        Requantisation::fields(),
        std::tuple{multiplier_field(&PiecewiseModule::multiplier),
                   Field{"FILE", &PiecewiseModule::file,
                         "image of the pieces, a base above a slope in each word"}});
  }
  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"LANES", &PiecewiseModule::lanes, "elements of a beat"}.at_least(1),
            Field{"IW", &PiecewiseModule::in_bits, "bits of an element that comes"}.at_least(2)},
        line_fields());
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

/// Registers before its skid.
inline constexpr int piecewise_stages = 5;

/// A module with the lines of a step.
PiecewiseModule piecewise_module(StepBuilder& builder, const integer::Pieces& pieces);

}  // namespace mase::design
