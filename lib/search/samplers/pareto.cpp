// SPDX-License-Identifier: Apache-2.0
// Non-dominated ranks, crowding, exact hypervolume and the best trials of a study.
#include "search/samplers/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"

namespace mase::samplers {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The indices 0 .. count-1, sorted by `less`; equal ones are in ascending order.
template <class Less>
std::vector<std::size_t> sorted_indices(std::size_t count, Less&& less) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

bool is_dominated(const Point& point, const std::vector<const Point*>& front) {
  return std::any_of(front.rbegin(), front.rend(),
                     [&](const Point* other) { return dominates(*other, point); });
}

/// The ranks of the points in `order`, which is lexicographic. So only earlier points can dominate
/// a point, and if no member of a front dominates it, no member of a later front does. Bisection
/// therefore finds its front (Zhang et al. 2015); the ranks are those of Deb's sort.
int rank_sorted(std::span<const Point> points, const std::vector<std::size_t>& order,
                std::vector<int>& ranks) {
  std::vector<std::vector<const Point*>> fronts;
  for (const std::size_t index : order) {
    const auto front = std::partition_point(
        fronts.begin(), fronts.end(),
        [&](const auto& candidate) { return is_dominated(points[index], candidate); });
    ranks[index] = static_cast<int>(front - fronts.begin());
    if (front == fronts.end())
      fronts.push_back({&points[index]});
    else
      front->push_back(&points[index]);
  }
  return static_cast<int>(fronts.size());
}

/// Adds one objective's contribution to `distances`: the gap between the neighbours, relative to
/// the finite extent. If all values are equal, the objective contributes nothing.
void add_crowding(std::span<const Point> front, std::size_t objective,
                  std::vector<double>& distances) {
  const auto value = [&](std::size_t index) { return front[index][objective]; };
  const auto order = sorted_indices(
      front.size(), [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
  if (value(order.front()) == value(order.back())) return;
  double low = infinity, high = -infinity;
  for (const std::size_t index : order)
    if (std::isfinite(value(index))) {
      low = std::min(low, value(index));
      high = std::max(high, value(index));
    }
  const double width = high > low ? high - low : 1.0;
  distances[order.front()] = distances[order.back()] = infinity;
  for (std::size_t i = 1; i + 1 < order.size(); ++i) {
    const double below = value(order[i - 1]), above = value(order[i + 1]);
    if (below != above) distances[order[i]] += (above - below) / width;
  }
}

/// The area between points and reference: a staircase over ascending first coordinates.
double area(std::vector<Point>& points, const Point& reference) {
  std::sort(points.begin(), points.end());
  double total = 0, height = reference[1];
  for (const Point& point : points)
    if (point[1] < height) {
      total += (reference[0] - point[0]) * (height - point[1]);
      height = point[1];
    }
  return total;
}

double length(const std::vector<Point>& points, const Point& reference) {
  double best = reference[0];
  for (const Point& point : points) best = std::min(best, point[0]);
  return reference[0] - best;
}

/// Drops dominated points and repetitions. In lexicographic order, only earlier points can dominate
/// a point.
void keep_non_dominated(std::vector<Point>& points) {
  std::sort(points.begin(), points.end());
  std::vector<Point> kept;
  for (Point& point : points)
    if (std::none_of(kept.begin(), kept.end(), [&](const Point& other) {
          return std::equal(other.begin(), other.end(), point.begin(), std::less_equal<>());
        }))
      kept.push_back(std::move(point));
  points = std::move(kept);
}

double volume(std::vector<Point> points, const Point& reference);

/// The volume of `point`'s box, limited to the first `size` coordinates, that the boxes of `others`
/// do not cover. The others are limited to the box by taking the worse of each coordinate.
double exclusive(const Point& point, std::span<const Point> others, const Point& reference) {
  const std::size_t size = reference.size();
  double box = 1;
  for (std::size_t i = 0; i < size; ++i) box *= reference[i] - point[i];
  std::vector<Point> limited;
  for (const Point& other : others) {
    Point worse(size);
    for (std::size_t i = 0; i < size; ++i) worse[i] = std::max(point[i], other[i]);
    limited.push_back(std::move(worse));
  }
  return box - volume(std::move(limited), reference);
}

/// The WFG recursion. The last coordinate is taken in descending order, so that every later point,
/// limited to a point's box, has that point's last coordinate: one dimension less remains.
double volume(std::vector<Point> points, const Point& reference) {
  if (points.empty()) return 0;
  if (reference.size() == 1) return length(points, reference);
  if (reference.size() == 2) return area(points, reference);
  keep_non_dominated(points);
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.back() > b.back(); });
  const Point smaller(reference.begin(), reference.end() - 1);
  double total = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    total += (reference.back() - points[i].back()) *
             exclusive(points[i], std::span(points).subspan(i + 1), smaller);
  return total;
}

/// Whether `point` lies strictly inside the box below `reference`.
bool is_inside(const Point& point, const Point& reference) {
  return std::equal(point.begin(), point.end(), reference.begin(), std::less<>());
}

}  // namespace

Point point_of(const Trial& trial, const std::vector<Direction>& directions) {
  MASE_CHECK(trial.values.size() == directions.size(), "a trial with other objectives");
  Point point(directions.size());
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double value = directions[i] == Direction::maximize ? -trial.values[i] : trial.values[i];
    point[i] = std::isnan(value) ? infinity : value;
  }
  return point;
}

bool dominates(const Point& a, const Point& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::vector<int> ranks(std::span<const Point> points, std::span<const double> violations) {
  MASE_CHECK(violations.empty() || violations.size() == points.size(),
             "violations and points differ in number");
  const auto violation = [&](std::size_t i) {
    if (violations.empty() || violations[i] <= 0) return 0.0;
    return std::isnan(violations[i]) ? infinity : violations[i];
  };
  const auto order = sorted_indices(points.size(), [&](std::size_t a, std::size_t b) {
    return violation(a) != violation(b) ? violation(a) < violation(b) : points[a] < points[b];
  });
  const auto infeasible = std::partition_point(
      order.begin(), order.end(), [&](std::size_t index) { return violation(index) == 0; });
  std::vector<int> result(points.size());
  int rank = rank_sorted(points, {order.begin(), infeasible}, result) - 1;
  // Only the violation decides among infeasible points: each value has its own rank.
  double previous = 0;
  for (auto index = infeasible; index != order.end(); ++index) {
    rank += violation(*index) != previous;
    previous = violation(*index);
    result[*index] = rank;
  }
  return result;
}

/// Adds a point. If a front dominates it, all earlier fronts do, so bisection finds its rank.
/// Points of that front that it dominates move to the next front, where they may displace others in
/// turn. One more point raises no rank by more than one.
void Fronts::add(Point point, std::size_t place) {
  const auto home = std::partition_point(fronts_.begin(), fronts_.end(), [&](const auto& front) {
    return std::any_of(front.begin(), front.end(),
                       [&](const Member& member) { return dominates(member.point, point); });
  });
  std::vector<Member> moving;
  moving.push_back({std::move(point), place});
  for (auto rank = static_cast<std::size_t>(home - fronts_.begin()); !moving.empty(); ++rank) {
    if (rank == fronts_.size()) fronts_.emplace_back();
    std::vector<Member>& front = fronts_[rank];
    const auto stays = [&](const Member& member) {
      return std::none_of(moving.begin(), moving.end(), [&](const Member& other) {
        return dominates(other.point, member.point);
      });
    };
    const auto border = std::stable_partition(front.begin(), front.end(), stays);
    std::vector<Member> next(std::make_move_iterator(border), std::make_move_iterator(front.end()));
    front.erase(border, front.end());
    std::move(moving.begin(), moving.end(), std::back_inserter(front));
    moving = std::move(next);
  }
}

std::vector<double> crowding_distance(std::span<const Point> front) {
  std::vector<double> distances(front.size(), 0.0);
  if (front.empty()) return distances;
  for (std::size_t objective = 0; objective < front[0].size(); ++objective)
    add_crowding(front, objective, distances);
  return distances;
}

double hypervolume(std::span<const Point> points, const Point& reference) {
  MASE_CHECK(!reference.empty(), "a reference point without coordinates");
  std::vector<Point> inside;
  for (const Point& point : points) {
    MASE_CHECK(point.size() == reference.size(), "point and reference differ in dimension");
    if (!is_inside(point, reference)) continue;
    if (std::find(point.begin(), point.end(), -infinity) != point.end()) return infinity;
    inside.push_back(point);
  }
  return volume(std::move(inside), reference);
}

std::vector<std::size_t> best_trials(std::span<const Trial> trials,
                                     const std::vector<Direction>& directions) {
  std::vector<std::size_t> candidates;
  std::vector<Point> points(trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (trials[i].state == TrialState::complete && trials[i].violation <= 0 &&
        trials[i].values.size() == directions.size()) {
      points[i] = point_of(trials[i], directions);
      candidates.push_back(i);
    }
  const auto by_number = [&](std::size_t a, std::size_t b) {
    return trials[a].number < trials[b].number;
  };
  std::sort(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
    return points[a] != points[b] ? points[a] < points[b] : by_number(a, b);
  });
  std::vector<std::size_t> best;
  for (const std::size_t candidate : candidates)
    if (std::none_of(best.begin(), best.end(), [&](std::size_t other) {
          return points[other] == points[candidate] || dominates(points[other], points[candidate]);
        }))
      best.push_back(candidate);
  std::sort(best.begin(), best.end(), by_number);
  return best;
}

}  // namespace mase::samplers
