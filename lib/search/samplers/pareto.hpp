// SPDX-License-Identifier: Apache-2.0
// Dominance under constraints, ranks, crowding distance and hypervolume. Before a comparison,
// values are negated where necessary so that less is better.
#pragma once

#include <span>
#include <vector>

#include "search/samplers/trial.hpp"

namespace mase::samplers {

/// One value per objective; less is better.
using Point = std::vector<double>;

/// The trial's values, negated where more is better. NaN counts as the worst value.
Point point_of(const Trial& trial, const std::vector<Direction>& directions);

/// Whether a is not worse than b in any objective, and better in at least one.
bool dominates(const Point& a, const Point& b);

/// The rank of each point: 0 for the non-dominated points, 1 for those dominated only by rank 0,
/// ... (Deb et al. 2002). With `violations`, uses Deb's constrained domination: feasible points
/// come first, then infeasible ones by violation (NaN last).
std::vector<int> ranks(std::span<const Point> points, std::span<const double> violations = {});

/// Points by rank, as `ranks` computes it without violations, updated as points are added.
class Fronts {
 public:
  struct Member {
    Point point;
    std::size_t place;  ///< the caller's identifier of the point
  };
  void add(Point point, std::size_t place);
  std::size_t count() const { return fronts_.size(); }
  const std::vector<Member>& front(std::size_t rank) const { return fronts_[rank]; }

 private:
  std::vector<std::vector<Member>> fronts_;
};

/// Crowding distance of each point of one front (Deb et al. 2002); infinite at the ends.
std::vector<double> crowding_distance(std::span<const Point> front);

/// The volume dominated by the points and bounded by `reference`, exact for any number of
/// objectives (a sweep for 2; the WFG recursion for more, While et al. 2012).
double hypervolume(std::span<const Point> points, const Point& reference);

/// The indices of the complete, feasible, non-dominated trials, in ascending number; the first of
/// trials with equal values is kept. With one objective, this is the best trial.
std::vector<std::size_t> best_trials(std::span<const Trial> trials,
                                     const std::vector<Direction>& directions);

}  // namespace mase::samplers
