// SPDX-License-Identifier: Apache-2.0
// Fold options: everything one step can be folded into, with interval and predicted cost.
#pragma once

#include <limits>
#include <vector>

#include "hardware/design/cost.hpp"
#include "hardware/design/design.hpp"
#include "hardware/design/folding/packing.hpp"

namespace mase::design {

/// One way to fold a step.
struct FoldOption {
  Fold fold;
  std::int64_t interval = 0;  ///< cycles per frame
  Cost cost;
  double area = 0;  ///< of the cost, in LUTs
};

/// LUTs that a resource is worth when folds are compared: LUT + 30 DSP + 200 BRAM. (An 8 x 8
/// multiplier of LUTs takes about 70, but DSP blocks that stay unused are of no use to anybody; a
/// RAMB36 is worth as many LUTs as 7-series parts have per block.)
double area(const Cost& cost);

/// Resources of one step by itself: its instances, memories by size.
Cost step_cost(const integer::Program& program, const integer::Step& step, const Fold& fold);
/// Resources of a width converter for `value` that takes at most `interval` cycles for a frame.
Cost resize_cost(const integer::StreamValue& value, std::int64_t from_lanes, std::int64_t to_lanes,
                 std::int64_t interval);

/// Multiplications per frame; 0 for steps without multipliers.
std::int64_t multiplications(const integer::Program& program, const integer::Step& step);

/// Which folds of a step may be taken.
struct FoldSpace {
  Fold fixed{0, 0};  ///< lanes of 0 are free; a parallel window is taken when asked for
  std::int64_t max_lanes = std::numeric_limits<std::int64_t>::max();  ///< of lanes that are free
  std::vector<Multiplier> multipliers{Multiplier::automatic};         ///< for steps that multiply
  const DspBlock* block = nullptr;  ///< whose multipliers outputs may share, if any
  bool always_packed = false;       ///< where that can be; else where it saves DSP blocks
};

/// Every fold of the space that divides and takes at most `interval` cycles.
std::vector<FoldOption> fold_options(const integer::Program& program, const integer::Step& step,
                                     const FoldSpace& space, std::int64_t interval);

/// The shortest interval of those folds.
std::int64_t fastest_interval(const integer::Program& program, const integer::Step& step,
                              const FoldSpace& space);

}  // namespace mase::design
