// SPDX-License-Identifier: Apache-2.0
// Splitting a history into the trials to be near to and the others (Optuna 5's rule).
#pragma once

#include <span>
#include <vector>

#include "search/samplers/pareto.hpp"

namespace mase::samplers {

/// Trials parted into good and other ones.
struct Split {
  std::vector<const Trial*> below, above;  ///< in ascending number
};

/// The good ones are ceil(0.1 n) of the n complete and pruned trials, with one objective at most
/// 25, with several at most 100. They are taken from the feasible complete ones in the order of
/// their values (ranks, with several objectives), then the pruned by (latest step, last value),
/// then by least violation. Running trials stand above; failed and waiting ones nowhere.
Split split_history(std::span<const Trial* const> history,
                    const std::vector<Direction>& directions);
/// How many of so many finished trials are good.
std::size_t good_count(std::size_t finished, std::size_t objectives);
/// As split_history, with `good` good ones.
Split split_history(std::span<const Trial* const> history, const std::vector<Direction>& directions,
                    std::size_t good);

/// Picks from a growing history the few trials that decide how it is split, so that the split of
/// these is that of all.
class SplitDigest {
 public:
  /// Picks the newest `others` of the trials that are not good.
  SplitDigest(const std::vector<Direction>& directions, std::size_t others)
      : directions_(directions), others_(others) {}
  /// Adds a finished trial, the `place`-th of the history; places ascend.
  void add(const Trial& trial, std::size_t place);
  std::size_t finished() const { return finished_.size(); }
  /// Places in ascending order.
  std::vector<std::size_t> picked() const;

 private:
  using Key = std::pair<double, double>;
  /// The best trials of one kind by (key, place).
  using Best = std::vector<std::pair<Key, std::size_t>>;
  void add_to(Best& best, const Key& key, std::size_t place);
  std::size_t most_good() const { return good_count(SIZE_MAX / 2, directions_.size()); }

  std::vector<Direction> directions_;
  std::size_t others_;
  std::vector<std::size_t> finished_;
  Best complete_, pruned_, infeasible_;
  Fronts fronts_;  ///< of the complete ones, with several objectives
};

/// Indices of `count` of the points, chosen greedily for the largest hypervolume together
/// (Guerreiro et al. 2016); `reference` bounds it. Equal points count once as long as others are
/// left.
std::vector<std::size_t> hypervolume_subset(std::span<const Point> points, std::size_t count,
                                            const Point& reference);

}  // namespace mase::samplers
