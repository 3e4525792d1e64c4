// SPDX-License-Identifier: Apache-2.0
// Adding up the fold options of many steps under resource limits: exact, by dropping only sums that
// cannot be part of the best answer, as long as there are not too many.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "hardware/design/folding/choose_folding.hpp"
#include "hardware/design/folding/fold_options.hpp"

namespace mase::design {

/// All folds of one step.
using FoldOptions = std::vector<FoldOption>;

/// The part of a cost that limits apply to.
struct Limits {
  double lut, dsp, bram;
  explicit Limits(const Target& target)
      : lut(target.lut.value_or(unlimited)),
        dsp(target.dsp.value_or(unlimited)),
        bram(target.bram.value_or(unlimited)) {}
  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  bool any() const { return lut < unlimited || dsp < unlimited || bram < unlimited; }
  bool fits(const Cost& cost) const {
    return cost.lut <= lut && cost.dsp <= dsp && cost.bram <= bram;
  }
  void reserve(const Cost& cost) {
    lut -= cost.lut;
    dsp -= cost.dsp;
    bram -= cost.bram;
  }
  /// Not worse in every limited resource.
  bool covers(const Cost& a, const Cost& b) const {
    return (lut == unlimited || a.lut <= b.lut) && (dsp == unlimited || a.dsp <= b.dsp) &&
           (bram == unlimited || a.bram <= b.bram);
  }
};

/// By area, then fewest lanes, then the shorter interval, then the multiplier.
bool cheaper(const FoldOption& a, const FoldOption& b);

/// The least of every limited resource over options, each for itself.
Cost least(const FoldOptions& options);

/// The cost of one option per step.
Cost sum_of(const FoldOptions& chosen);

/// Options that no other one beats in every limited resource and in area, cheapest first.
FoldOptions undominated(FoldOptions options, const Limits& limits);

/// One option per step that fits; nothing when none was found.
struct Merged : std::optional<FoldOptions> {
  bool proven = true;     ///< of the least area, or nothing fits; else it was too much to find out
  double least_area = 0;  ///< of all that fit, at least; where some do
};

using Merge = Merged (*)(const std::vector<FoldOptions>& steps, const Limits& limits);
/// The choice of the least total area. Where the sums of options are too many, one that is near.
Merged merge(const std::vector<FoldOptions>& steps, const Limits& limits);
/// The same to find out whether anything fits: the first choice that does, of any area.
Merged fitting(const std::vector<FoldOptions>& steps, const Limits& limits);

}  // namespace mase::design
