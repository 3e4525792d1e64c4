// SPDX-License-Identifier: Apache-2.0
// Pareto: dominance under constraints, ranks, crowding, hypervolume. Values are turned so that less
// is better before anything is compared.
#pragma once

#include <span>
#include <vector>

#include "search/samplers/trial.hpp"

namespace mase::samplers {

/// One value per objective, less is better.
using Point = std::vector<double>;

/// The trial's values turned to "less is better"; NaN counts as the worst.
Point point_of(const Trial& trial, const std::vector<Direction>& directions);

/// Whether a is nowhere worse than b and somewhere better.
bool dominates(const Point& a, const Point& b);

/// Rank of each point: 0 the non-dominated, 1 those dominated by rank 0 only, ... (Deb et al.
/// 2002). With `violations` Deb's constrained domination: feasible before infeasible, the less
/// violated first (NaN last).
std::vector<int> ranks(std::span<const Point> points, std::span<const double> violations = {});

/// Points by rank, as `ranks` without violations has them, kept while points come one by one.
class Fronts {
 public:
  struct Member {
    Point point;
    std::size_t place;  ///< whatever the caller knows the point by
  };
  void add(Point point, std::size_t place);
  std::size_t count() const { return fronts_.size(); }
  const std::vector<Member>& front(std::size_t rank) const { return fronts_[rank]; }

 private:
  std::vector<std::vector<Member>> fronts_;
};

/// Crowding distance of each point of one front (Deb et al. 2002); infinite at the ends.
std::vector<double> crowding_distance(std::span<const Point> front);

/// Volume dominated by the points and bounded by `reference`, exact for any number of objectives
/// (2 by a sweep; more by the WFG recursion, While et al. 2012).
double hypervolume(std::span<const Point> points, const Point& reference);

/// Indices of the complete, feasible, non-dominated trials, in ascending number; of trials with
/// equal values the first stays. With one objective: the best trial.
std::vector<std::size_t> best_trials(std::span<const Trial> trials,
                                     const std::vector<Direction>& directions);

}  // namespace mase::samplers
