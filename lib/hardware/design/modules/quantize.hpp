// SPDX-License-Identifier: Apache-2.0
// Module mase_quantize.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/integer/steps/quantize.hpp"

namespace mase::design {

/// Elements rounded to the levels of a number format, or by thresholds of their channel.
struct QuantizeModule {
  static constexpr std::string_view module_name = "mase_quantize";
  std::int64_t lanes = 1;
  int in_bits = 8;
  bool in_signed = true;
  int out_bits = 2;
  std::int64_t count = 1;
  std::int64_t channels = 1;
  HexBits thresholds{"101", 9}, levels{"0", 4};

  static constexpr auto fields() {
    return std::tuple{
        Field{"LANES", &QuantizeModule::lanes, "elements of a beat"}.at_least(1),
        Field{"IW", &QuantizeModule::in_bits, "bits of an element that comes"}.at_least(1),
        Field{"ISIGNED", &QuantizeModule::in_signed, "whether it has a sign"},
        Field{"OW", &QuantizeModule::out_bits, "bits of an element that leaves"}.at_least(1),
        Field{"COUNT", &QuantizeModule::count, "thresholds of a channel, one less than levels"}
            .at_least(1),
        Field{"CHANNELS", &QuantizeModule::channels,
              "channels with thresholds of their own, a multiple of LANES; 1: the same for all"}
            .at_least(1),
        Field{"THRESHOLDS", &QuantizeModule::thresholds,
              "the least element of each level but the first, ascending, the sign turned over, "
              "below a bit that says whether an element can reach it"},
        Field{"LEVELS", &QuantizeModule::levels, "the codes of the levels, ascending"}};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<QuantizeModule>> measured();
  static ModuleRow row();
  static StepRow step();

  /// Beats of a row of channels.
  std::int64_t blocks() const { return channels == 1 ? 1 : channels / lanes; }
};

/// The module of a step between streams of these types.
QuantizeModule quantize_module(const integer::Quantize& step, const integer::FixedType& from,
                               const integer::FixedType& to, std::int64_t lanes);

}  // namespace mase::design
