// SPDX-License-Identifier: Apache-2.0
// Greedy exchange of fold options.
#include "hardware/design/folding/fold_repair.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace mase::design {
namespace {

/// Less than this is rounding.
constexpr double least_gain = 1e-9;

/// What of a resource lies beyond its limit, in limits.
double beyond(double use, double limit) {
  return limit == Limits::unlimited ? 0 : std::max(0.0, (use - limit) / std::max(limit, 1.0));
}

class Repair {
 public:
  Repair(const std::vector<FoldOptions>& steps, const Limits& limits, const Relaxation& relaxation)
      : steps_(steps), limits_(limits), relaxation_(relaxation) {
    for (const FoldOptions& options : steps)
      chosen_.push_back(&*std::ranges::min_element(
          options, {}, [&](const FoldOption& option) { return relaxation.price(option.cost); }));
    add_up();
  }

  std::optional<FoldOptions> run() {
    while (!limits_.fits(sum_))
      if (!save()) return std::nullopt;
    while (lessen()) {
    }
    FoldOptions result;
    for (const FoldOption* option : chosen_) result.push_back(*option);
    return result;
  }

 private:
  /// The same additions in the same order as anybody makes who adds up the choice.
  void add_up() {
    sum_ = {};
    for (const FoldOption* option : chosen_) sum_ += option->cost;
  }

  Cost sum_with(std::size_t step, const FoldOption& option) const {
    Cost sum = sum_;
    sum += scaled(chosen_[step]->cost, -1);
    sum += option.cost;
    return sum;
  }

  double excess(const Cost& sum) const {
    return beyond(sum.lut, limits_.lut) + beyond(sum.dsp, limits_.dsp) +
           beyond(sum.bram, limits_.bram);
  }

  /// The exchange with the least price for what it takes off the excess; false when none does.
  bool save() {
    stop_if_asked();
    const double before = excess(sum_);
    double best_rate = Limits::unlimited;
    std::size_t best_step = 0;
    const FoldOption* best = nullptr;
    for (std::size_t step = 0; step < steps_.size(); ++step)
      for (const FoldOption& option : steps_[step]) {
        const double saved = before - excess(sum_with(step, option));
        if (saved < least_gain) continue;
        const double price =
            relaxation_.price(option.cost) - relaxation_.price(chosen_[step]->cost);
        if (price / saved >= best_rate) continue;
        best_rate = price / saved;
        best_step = step;
        best = &option;
      }
    if (!best) return false;
    chosen_[best_step] = best;
    add_up();
    return true;
  }

  /// Every step's smallest option that fits, the others as they are; whether any was smaller.
  bool lessen() {
    stop_if_asked();
    bool changed = false;
    for (std::size_t step = 0; step < steps_.size(); ++step)
      for (const FoldOption& option : steps_[step]) {
        const FoldOption* before = chosen_[step];
        if (option.area > before->area - least_gain || !limits_.fits(sum_with(step, option)))
          continue;
        chosen_[step] = &option;
        add_up();
        if (limits_.fits(sum_)) {
          changed = true;
          continue;
        }
        chosen_[step] = before;
        add_up();
      }
    return changed;
  }

  const std::vector<FoldOptions>& steps_;
  const Limits& limits_;
  const Relaxation& relaxation_;
  std::vector<const FoldOption*> chosen_;
  Cost sum_;
};

}  // namespace

std::optional<FoldOptions> repaired(const std::vector<FoldOptions>& steps, const Limits& limits,
                                    const Relaxation& relaxation) {
  return Repair(steps, limits, relaxation).run();
}

}  // namespace mase::design
