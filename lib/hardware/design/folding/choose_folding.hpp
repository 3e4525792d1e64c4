// SPDX-License-Identifier: Apache-2.0
// The choice of folds: how far every step is unfolded to meet a target.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "hardware/design/design.hpp"
#include "hardware/design/folding/packing.hpp"
#include "hardware/design/folding/pipeline_stages.hpp"

namespace mase::design {

/// What the user asks for; the search picks the folding.
struct Target {
  std::optional<std::int64_t> initiation_interval;  ///< cycles between frames, at most
  std::optional<double> lut, dsp, bram;             ///< limits of the part
  Multiplier multiplier = Multiplier::automatic;
  const DspBlock* block = &dsp_block(default_dsp_block);  ///< whose multipliers outputs may share
  /// Whether they do: always or never where it can be; unset where it saves DSP blocks and area.
  std::optional<bool> packing;
  std::optional<std::int64_t> max_lanes;  ///< bound of every lane count that is not fixed
  /// Cycles by which steps are to be faster than the interval where they can: for what windows add.
  std::int64_t slack = 0;
  /// Folds fixed by the user, by graph node; lanes of 0 are left to the search.
  std::map<std::string, Fold> layers;
  std::map<std::string, bool> layer_packing;  ///< the same of a node
  ClockTarget clock = {};                     ///< where it is missed, matrices get pipeline stages
};

/// The cheapest folding (LUT + 30 DSP + 200 BRAM) that meets the target's interval, or the fastest
/// that fits its limits. The search over the divisors of every step is exact; if there are too many
/// of them, it gives a bound on the distance from the best (Design::gap).
///
/// A target without interval and limits gets the fastest folding within max_lanes. Without
/// max_lanes, the ports move one element per cycle, slowed down to the cycles that 256 multipliers
/// need, and sped up if only a few slow layers stand in the way at little cost.
///
/// Error(Fault::goal) if the target cannot be met: it names the smallest interval or resources
/// that are possible. Error(Fault::config) if a fixed fold does not divide its dimension.
Folding choose_folding(const integer::Program& program, const Target& target);

/// `choose_folding` and `build`. Intervals of steps are closed forms; should plumbing make the
/// whole slower than the target, the search is repeated for a shorter interval.
Design build_for(const std::shared_ptr<const integer::Program>& program, const Target& target);

}  // namespace mase::design
