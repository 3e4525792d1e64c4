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
/// 25. They are taken from the feasible complete ones in the order of their values (ranks, with
/// several objectives), then the pruned by (latest step, last value), then by least violation.
/// Running trials stand above; failed and waiting ones nowhere.
Split split_history(std::span<const Trial* const> history,
                    const std::vector<Direction>& directions);

/// Indices of `count` of the points, chosen greedily for the largest hypervolume together
/// (Guerreiro et al. 2016); `reference` bounds it. Equal points count once as long as others are
/// left.
std::vector<std::size_t> hypervolume_subset(std::span<const Point> points, std::size_t count,
                                            const Point& reference);

}  // namespace mase::samplers
