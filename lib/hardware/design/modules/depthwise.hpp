// SPDX-License-Identifier: Apache-2.0
// Module mase_depthwise.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/multiply_accumulate.hpp"

namespace mase::design {

class StepBuilder;

/// Own weights for every group of channels.
struct DepthwiseModule : MultiplyAccumulate {
  static constexpr std::string_view module_name = "mase_depthwise";
  std::int64_t beats = 9, blocks = 2, groups = 4, taps = 1, channels = 1, outputs = 1;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"N", &DepthwiseModule::beats, "beats of a block"}.at_least(1),
            Field{"BLOCKS", &DepthwiseModule::blocks, "blocks, one after another"}.at_least(1),
            Field{"GROUPS", &DepthwiseModule::groups, "groups of channels in a beat"}.at_least(1),
            Field{"TAPS", &DepthwiseModule::taps, "taps in a beat"}.at_least(1),
            Field{"CHANNELS", &DepthwiseModule::channels, "channels of a group"}.at_least(1),
            Field{"OUTPUTS", &DepthwiseModule::outputs, "outputs of a group"}.at_least(1)},
        MultiplyAccumulate::fields());
  }

  ProductShape shape() const { return {beats, blocks, taps * channels, groups * outputs, groups}; }
  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

/// Groups of a convolution side by side, as many as the fold's out_lanes have outputs of whole
/// groups, on a stream of `taps` taps of them per beat.
StreamId add_groups(StepBuilder& builder, std::int64_t taps, StreamId in);

}  // namespace mase::design
