// SPDX-License-Identifier: Apache-2.0
// Pareto sets of fold options and their sums.
#include "hardware/design/folding/fold_merge.hpp"

#include <algorithm>
#include <tuple>

#include "base/interrupt.hpp"
#include "hardware/design/folding/fold_relaxation.hpp"
#include "hardware/design/folding/fold_repair.hpp"

namespace mase::design {

/// By area, then fewest lanes, then the shorter interval, then the multiplier.
bool cheaper(const FoldOption& a, const FoldOption& b) {
  const auto key = [](const FoldOption& option) {
    return std::tuple(option.area, option.fold.in_lanes * option.fold.out_lanes, option.interval,
                      option.fold.multiplier);
  };
  return key(a) < key(b);
}

Cost least(const FoldOptions& options) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Cost low{far, far, far, far, far};
  for (const FoldOption& option : options) {
    low.lut = std::min(low.lut, option.cost.lut);
    low.dsp = std::min(low.dsp, option.cost.dsp);
    low.bram = std::min(low.bram, option.cost.bram);
  }
  low.ff = low.carry = 0;
  return low;
}

Cost sum_of(const FoldOptions& chosen) {
  Cost sum;
  for (const FoldOption& option : chosen) sum += option.cost;
  return sum;
}

/// Options that no other one beats in every limited resource and in area, cheapest first.
FoldOptions undominated(FoldOptions options, const Limits& limits) {
  std::sort(options.begin(), options.end(), cheaper);
  FoldOptions kept;
  for (const FoldOption& option : options)
    if (std::none_of(kept.begin(), kept.end(), [&](const FoldOption& other) {
          return limits.covers(other.cost, option.cost);
        }))
      kept.push_back(option);
  return kept;
}

namespace {

/// Comparisons of sums in one merge; a second or so.
constexpr std::int64_t most_comparisons = 200'000'000;

/// The cheapest choice of one option per step whose sum fits.
class Sums {
 public:
  Sums(const std::vector<FoldOptions>& steps, const Limits& limits, const Relaxation& relaxation)
      : steps_(steps), limits_(limits), relaxation_(relaxation) {
    rest_.resize(steps_.size() + 1);
    for (std::size_t i = steps_.size(); i-- > 0;) {
      rest_[i] = rest_[i + 1];
      rest_[i] += least(steps_[i]);
    }
  }

  std::optional<FoldOptions> run() {
    std::vector<std::vector<Sum>> levels{{Sum{}}};
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      levels.push_back(extend(levels.back(), i));
      if (levels.back().empty() || too_many()) return std::nullopt;
    }
    FoldOptions chosen(steps_.size());
    std::size_t at = 0;  // sums are in the order of their area
    for (std::size_t i = steps_.size(); i-- > 0;) {
      const Sum& sum = levels[i + 1][at];
      chosen[i] = steps_[i][sum.option];
      at = sum.previous;
    }
    return chosen;
  }

  /// To be added up: nothing is known then.
  bool too_many() const { return comparisons_ > most_comparisons; }

 private:
  struct Sum {
    Cost cost;
    std::size_t previous = 0, option = 0;
  };

  std::vector<Sum> extend(const std::vector<Sum>& sums, std::size_t step) {
    stop_if_asked();
    std::vector<Sum> all;
    for (std::size_t s = 0; s < sums.size(); ++s)
      for (std::size_t o = 0; o < steps_[step].size(); ++o) {
        Sum next{sums[s].cost, s, o};
        next.cost += steps_[step][o].cost;
        Cost whole = next.cost;
        whole += rest_[step + 1];
        if (limits_.fits(whole) && relaxation_.can_win(next.cost, step + 1)) all.push_back(next);
      }
    std::stable_sort(all.begin(), all.end(),
                     [](const Sum& a, const Sum& b) { return area(a.cost) < area(b.cost); });
    std::vector<Sum> kept;
    for (const Sum& sum : all) {
      if (too_many()) break;
      if (std::ranges::none_of(kept, [&](const Sum& other) {
            ++comparisons_;
            return limits_.covers(other.cost, sum.cost);
          }))
        kept.push_back(sum);
    }
    return kept;
  }

  const std::vector<FoldOptions>& steps_;
  const Limits& limits_;
  const Relaxation& relaxation_;
  std::vector<Cost> rest_;  ///< the least of every resource that the steps from i on can do with
  std::int64_t comparisons_ = 0;
};

enum class Wanted { any, least_area };

Merged merged(const std::vector<FoldOptions>& steps, const Limits& limits, Wanted wanted) {
  Relaxation relaxation(steps, limits);
  if (relaxation.impossible()) return {};
  Merged near{repaired(steps, limits, relaxation), false, relaxation.least_area()};
  if (near && wanted == Wanted::any) return near;
  if (near) relaxation.found(area(sum_of(*near)));
  Sums sums(steps, limits, relaxation);
  auto best = sums.run();
  if (sums.too_many()) return near;
  return {std::move(best), true};
}

}  // namespace

Merged merge(const std::vector<FoldOptions>& steps, const Limits& limits) {
  return merged(steps, limits, Wanted::least_area);
}

Merged fitting(const std::vector<FoldOptions>& steps, const Limits& limits) {
  return merged(steps, limits, Wanted::any);
}

}  // namespace mase::design
