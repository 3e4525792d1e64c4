// SPDX-License-Identifier: Apache-2.0
// Module mase_channel_shift.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/requantisation.hpp"

namespace mase::design {

/// Accumulators of channels with binary points of their own, brought to one.
struct ChannelShiftModule : Requantisation {
  static constexpr std::string_view module_name = "mase_channel_shift";
  std::int64_t blocks = 1, lanes = 1;
  int in_bits = 16;
  bool in_signed = true;
  int distance_bits = 2, shifted_bits = 20;
  std::optional<HexBits> distances = std::nullopt;
  std::optional<std::string> file = std::nullopt;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"BLOCKS", &ChannelShiftModule::blocks, "beats of a row"}.at_least(1),
            Field{"LANES", &ChannelShiftModule::lanes, "elements of a beat, a channel each"}
                .at_least(1),
            Field{"IW", &ChannelShiftModule::in_bits, "bits of an element that comes"}.at_least(1),
            Field{"ISIGNED", &ChannelShiftModule::in_signed, "whether it has a sign"},
            Field{"LW", &ChannelShiftModule::distance_bits, "bits of a distance"}.at_least(1),
            Field{"ACCW", &ChannelShiftModule::shifted_bits,
                  "bits of a shifted element, with its sign"}
                .at_least(1)},
        Requantisation::fields(),
        std::tuple{Field{"LEFT", &ChannelShiftModule::distances, "the distances of one block"},
                   Field{"LEFT_FILE", &ChannelShiftModule::file,
                         "image of those of several blocks, a word for each"}});
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
