// SPDX-License-Identifier: Apache-2.0
// Module mase_octave_pieces.
#pragma once

#include "hardware/design/modules/piecewise.hpp"

namespace mase::design {

/// A function in straight pieces that are finer the smaller an element is, one in each lane. The
/// bits of the lines' input follow from the rest.
struct OctavePiecesModule : PiecewiseModule {
  static constexpr std::string_view module_name = "mase_octave_pieces";
  int element_bits = 24;
  bool element_signed = true;
  int octave_bits = 3, piece_bits = 4;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"LANES", &OctavePiecesModule::lanes, "elements of a beat"}.at_least(1),
            Field{"IW", &OctavePiecesModule::element_bits, "bits of an element that comes"}.between(
                3, 64),
            Field{"SIGNED", &OctavePiecesModule::element_signed, "whether it has a sign"},
            Field{"OB", &OctavePiecesModule::octave_bits,
                  "bits of its octave, the zeros in front of its leading one"}
                .between(2, 6),
            Field{"PB", &OctavePiecesModule::piece_bits,
                  "bits behind its leading one that tell its piece in the octave"}
                .at_least(1)},
        line_fields());
  }

  PiecewiseModule lines() const;
  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
