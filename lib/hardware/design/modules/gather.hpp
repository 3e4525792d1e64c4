// SPDX-License-Identifier: Apache-2.0
// Module mase_gather.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// The beats of a frame in the order of an image; two frames are kept.
struct GatherModule {
  static constexpr std::string_view module_name = "mase_gather";
  std::int64_t in = 4, out = 4, run = 1, start = 4, lanes = 1;
  int bits = 8;
  bool pads = false;
  Sized outside{0, 8, false};
  std::string file = {};

  static constexpr auto fields() {
    return std::tuple{
        Field{"IN", &GatherModule::in, "beats of a frame that come"}.at_least(1),
        Field{"OUT", &GatherModule::out, "beats of a frame that leave"}.at_least(1),
        Field{"RUN", &GatherModule::run, "beats of a word of the image"}.at_least(1),
        Field{"START", &GatherModule::start,
              "beats that must be there before the first one leaves"},
        Field{"LANES", &GatherModule::lanes, "elements of a beat"}.at_least(1),
        Field{"DW", &GatherModule::bits, "bits of an element"}.at_least(1),
        Field{"PADS", &GatherModule::pads, "whether some beats come from outside of the frame"},
        Field{"OUTSIDE", &GatherModule::outside, "the element there"},
        Field{"FILE", &GatherModule::file, "image of the places"}};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<GatherModule>> measured();
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
