// SPDX-License-Identifier: Apache-2.0
// The Lagrangian relaxation of choosing one fold per step under resource limits: a bound that says
// which sums cannot become the best answer (Fisher, Management Science 27, 1981).
#pragma once

#include <algorithm>
#include <vector>

#include "hardware/design/folding/fold_merge.hpp"

namespace mase::design {

/// A price per unit of every limited resource makes the choices of the steps independent of each
/// other: the cheapest of each, less what the limits are worth, is no more than the least area
/// that fits. Prices are found by subgradient steps.
class Relaxation {
 public:
  Relaxation(const std::vector<FoldOptions>& steps, const Limits& limits);

  /// Whether no choice fits: a bound above the area of every choice shows it.
  bool impossible() const { return impossible_; }
  /// Whether a sum over the first `count` steps can still become one that is no larger than the
  /// best choice found.
  bool can_win(const Cost& sum, std::size_t count) const;
  /// No choice that fits has a smaller area.
  double least_area() const { return rest_.front() - worth(); }
  /// Area and prices of what is limited.
  double price(const Cost& cost) const { return area(cost) + prices_.of(cost); }
  /// The area of a choice that fits.
  void found(double area) { best_ = std::min(best_, area); }

 private:
  struct Prices {
    double lut = 0, dsp = 0, bram = 0;
    double of(const Cost& cost) const;
  };
  Cost cheapest(const std::vector<FoldOptions>& steps) const;
  double worth() const;  ///< of the limits at the prices
  void improve(const std::vector<FoldOptions>& steps);
  void raise(const Cost& sum, double length);

  Limits limits_;
  Prices prices_;
  double best_;               ///< area of the best choice that fits; infinite when none was seen
  std::vector<double> rest_;  ///< the least price of the steps from i on
  bool impossible_ = false;
};

}  // namespace mase::design
