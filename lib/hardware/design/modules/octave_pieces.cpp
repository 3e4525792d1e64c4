// SPDX-License-Identifier: Apache-2.0
// A search for the leading one of each lane in two stages, and the lines behind it.
#include "hardware/design/modules/octave_pieces.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

constexpr int search_stages = 3;  ///< in front of the lines

int sign_bits_of(const OctavePiecesModule& module) { return module.element_signed ? 1 : 0; }
int place_address_bits(const OctavePiecesModule& module) {
  return sign_bits_of(module) + module.octave_bits + module.piece_bits;
}

/// Bits of the distance that the second stage shifts by.
int fine_bits(const OctavePiecesModule& module) { return (module.octave_bits + 1) / 2; }
/// Bits of the number behind the second stage, and behind the first.
int placed_bits(const OctavePiecesModule& module) {
  return module.piece_bits + module.low_bits + 1;
}
int middle_bits(const OctavePiecesModule& module) {
  const int left = placed_bits(module) + (1 << fine_bits(module)) - 1;
  return std::min(left, module.element_bits - sign_bits_of(module));
}

StreamId add_octave_pieces(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& pieces = std::get<integer::OctavePieces>(builder.step.operation);
  OctavePiecesModule module{piecewise_module(builder, pieces)};
  module.element_bits = builder.input().type.width;
  module.element_signed = builder.input().type.is_signed;
  module.octave_bits = pieces.octave_bits;
  module.piece_bits = pieces.piece_bits;
  return builder.finish(module, inputs, module.lanes);
}

/// LUTs of a bit behind a search in so many bits of the distance. They are within a quarter of what
/// Yosys makes of three bits in both stages, where much of a number is beyond its end.
double leading_luts(int bits) { return fitted.leading[static_cast<std::size_t>(bits)]; }

/// LUTs one after another that look for a one in the first 2^k bits for each k, and shift.
double search_luts(int from, int to, const Technology& technology) {
  double luts = 0;
  for (int k = from; k < to; ++k) luts += tree_luts(std::int64_t{1} << k, technology) + 1;
  return luts;
}

Path search_path(int from, int to, int bits, const Technology& technology) {
  return {.what = "leading one",
          .luts = search_luts(from, to, technology),
          .readers = static_cast<double>(bits)};
}

}  // namespace

PiecewiseModule OctavePiecesModule::lines() const {
  PiecewiseModule lines = *this;
  lines.in_bits = place_address_bits(*this) + low_bits;
  return lines;
}

std::unique_ptr<Handshake> OctavePiecesModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(search_stages + piecewise_stages, kept);
}

Cost OctavePiecesModule::cost(const Design& design) const {
  const int fine = fine_bits(*this);
  const auto middle = static_cast<double>(middle_bits(*this));
  const auto placed = static_cast<double>(placed_bits(*this));
  Cost lane;
  // A search of more than a bit takes the choice of the last octave into its own LUTs.
  const double choice = fine > 1 ? 0 : 1;
  lane.lut = middle * leading_luts(octave_bits - fine) + placed * (leading_luts(fine) + choice);
  // The sign waits in a shift register.
  lane.ff = middle + (octave_bits - fine) + placed + octave_bits + (placed - 1) + octave_bits;
  Cost cost = lines().cost(design);
  cost.ff += search_stages;
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths OctavePiecesModule::paths(const Technology& technology) const {
  const int fine = fine_bits(*this);
  Paths paths = lines().paths(technology);
  paths.push_back(search_path(fine, octave_bits, middle_bits(*this), technology));
  paths.push_back(search_path(0, fine, placed_bits(*this), technology));
  return paths;
}

StepRow OctavePiecesModule::step() {
  return {"octave_pieces", element_rule, fold_lanes, output_interval, nullptr, add_octave_pieces};
}

ModuleRow OctavePiecesModule::row() {
  return row_of_module<OctavePiecesModule>({.folder = "elementwise",
                                            .doc = "function of wide elements in straight pieces",
                                            .uses = {"mase_piecewise"},
                                            .inputs = {"in"},
                                            .outputs = {"out"}});
}

}  // namespace mase::design
