// SPDX-License-Identifier: Apache-2.0
// Splits a history into good trials and the others (Optuna 5's rule).
#pragma once

#include <span>
#include <vector>

#include "search/samplers/pareto.hpp"

namespace mase::samplers {

/// Trials divided into good ones (below) and others (above).
struct Split {
  std::vector<const Trial*> below, above;  ///< in ascending number
};

/// The good trials are ceil(0.1 n) of the n complete and pruned trials, but at most 25 with one
/// objective and at most 100 with several. First come feasible complete trials by value (or rank,
/// with several objectives), then pruned ones by (latest step, last value), then infeasible ones by
/// violation. Running trials are in `above`; failed and waiting ones are left out.
Split split_history(std::span<const Trial* const> history,
                    const std::vector<Direction>& directions);
/// The number of good trials among `finished` trials.
std::size_t good_count(std::size_t finished, std::size_t objectives);
/// The same, with `good` good trials.
Split split_history(std::span<const Trial* const> history, const std::vector<Direction>& directions,
                    std::size_t good);

/// Picks from a growing history the few trials that determine the split, so that splitting only
/// these has the same result.
class SplitDigest {
 public:
  /// `others` is the number of newest trials to pick that are not good.
  SplitDigest(const std::vector<Direction>& directions, std::size_t others)
      : directions_(directions), others_(others) {}
  /// Adds a finished trial, which has the index `place` in the history. Places must ascend.
  void add(const Trial& trial, std::size_t place);
  std::size_t finished() const { return finished_.size(); }
  /// The places of the picked trials in ascending order.
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
  Fronts fronts_;  ///< of the complete trials, with several objectives
};

/// The indices of `count` points, chosen greedily to maximise their joint hypervolume (Guerreiro et
/// al. 2016), which `reference` bounds. Repeated points are chosen only when there are no others
/// left.
std::vector<std::size_t> hypervolume_subset(std::span<const Point> points, std::size_t count,
                                            const Point& reference);

}  // namespace mase::samplers
