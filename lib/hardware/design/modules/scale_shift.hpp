// SPDX-License-Identifier: Apache-2.0
// Module mase_scale_shift.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// x * scale + shift with a scale and a shift for each channel.
struct ScaleShiftModule : Requantisation {
  static constexpr std::string_view module_name = "mase_scale_shift";
  std::int64_t blocks = 1, lanes = 1;
  int in_bits = 8;
  bool in_signed = true;
  int scale_bits = 8;
  bool scale_signed = true, has_shift = true;
  int shift_bits = 16, sum_bits = 18, multiplier = 0;
  std::string scale_file = {}, shift_file = {};
  std::optional<std::int64_t> scale_base = std::nullopt, shift_base = std::nullopt;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"BLOCKS", &ScaleShiftModule::blocks, "beats of a row"}.at_least(1),
            Field{"LANES", &ScaleShiftModule::lanes, "elements of a beat, a channel each"}.at_least(
                1),
            Field{"AW", &ScaleShiftModule::in_bits, "bits of an element that comes"}.at_least(1),
            Field{"ASIGNED", &ScaleShiftModule::in_signed, "whether it has a sign"},
            Field{"SW", &ScaleShiftModule::scale_bits, "bits of a scale"}.at_least(1),
            Field{"SSIGNED", &ScaleShiftModule::scale_signed, "whether scales have a sign"},
            Field{"HAS_SHIFT", &ScaleShiftModule::has_shift, "whether shifts are added"},
            Field{"BW", &ScaleShiftModule::shift_bits, "bits of a shift, with its sign"}.at_least(
                1),
            Field{"ACCW", &ScaleShiftModule::sum_bits, "bits of the sum, with its sign"}.at_least(
                1)},
        Requantisation::fields(),
        std::tuple{
            multiplier_field(&ScaleShiftModule::multiplier),
            Field{"SCALE_FILE", &ScaleShiftModule::scale_file,
                  "image of the scales, a word for each block"},
            Field{"SHIFT_FILE", &ScaleShiftModule::shift_file, "image of the shifts"},
            Field{"SCALE_BASE", &ScaleShiftModule::scale_base, "where a host writes the scales"}
                .at_least(0),
            Field{"SHIFT_BASE", &ScaleShiftModule::shift_base, "where a host writes the shifts"}
                .at_least(0)});
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  std::vector<HostImage> host_images() {
    return {{scale_file, &scale_base}, {shift_file, &shift_base}};
  }
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
