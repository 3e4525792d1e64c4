// SPDX-License-Identifier: Apache-2.0
// Ranks, crowding, hypervolume and best trials against slow definitions written here.
#include "search/samplers/pareto.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "support/infinity.hpp"

using namespace mase;
using namespace mase::samplers;
using mase::test::infinity;

namespace {

/// Points on a small integer grid, so that ties and repetitions occur.
std::vector<Point> grid_points(Random& random, std::size_t count, std::size_t objectives,
                               std::uint64_t side) {
  std::vector<Point> points(count, Point(objectives));
  for (Point& point : points)
    for (double& value : point) value = static_cast<double>(random.below(side));
  return points;
}

bool beats(const Point& a, double violation_a, const Point& b, double violation_b) {
  if (violation_a > 0 || violation_b > 0) return violation_a < violation_b;
  bool no_worse = true, better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    no_worse = no_worse && a[i] <= b[i];
    better = better || a[i] < b[i];
  }
  return no_worse && better;
}

/// The definition: again and again, take away those that nothing remaining beats.
std::vector<int> slow_ranks(const std::vector<Point>& points, const std::vector<double>& missed) {
  std::vector<int> result(points.size(), -1);
  for (int rank = 0; std::count(result.begin(), result.end(), -1) > 0; ++rank) {
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool beaten = result[i] >= 0;
      for (std::size_t j = 0; j < points.size() && !beaten; ++j)
        beaten = result[j] < 0 && beats(points[j], missed[j], points[i], missed[i]);
      if (!beaten) front.push_back(i);
    }
    for (const std::size_t i : front) result[i] = rank;
  }
  return result;
}

/// Volume of a union of boxes by inclusion and exclusion over all subsets.
double inclusion_exclusion(const std::vector<Point>& points, const Point& reference) {
  double total = 0;
  for (unsigned subset = 1; subset < (1U << points.size()); ++subset) {
    double box = 1;
    for (std::size_t k = 0; k < reference.size(); ++k) {
      double side = infinity;
      for (std::size_t i = 0; i < points.size(); ++i)
        if (subset >> i & 1U) side = std::min(side, std::max(0.0, reference[k] - points[i][k]));
      box *= side;
    }
    total += __builtin_popcount(subset) % 2 == 1 ? box : -box;
  }
  return total;
}

/// Unit cells of a grid that some point covers; points and reference are integers.
double counted_cells(const std::vector<Point>& points, std::size_t objectives, int side) {
  std::vector<int> cell(objectives, 0);
  double count = 0;
  for (std::size_t k = 0; k < objectives;) {
    count += std::any_of(points.begin(), points.end(), [&](const Point& point) {
      return std::equal(point.begin(), point.end(), cell.begin(), std::less_equal<>());
    });
    for (k = 0; k < objectives && ++cell[k] == side; ++k) cell[k] = 0;
  }
  return count;
}

Trial complete(std::int64_t number, std::vector<double> values, double violation = 0) {
  Trial trial;
  trial.number = number;
  trial.state = TrialState::complete;
  trial.values = std::move(values);
  trial.violation = violation;
  return trial;
}

}  // namespace

TEST_CASE("ranks follow the definition, with ties and repeated points") {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const auto points = grid_points(random, 30, 1 + random.below(4), 2 + random.below(6));
    CHECK(ranks(points) == slow_ranks(points, std::vector<double>(points.size(), 0.0)));
  }
  CHECK(ranks({}).empty());
}

TEST_CASE("constrained ranks put the feasible first, then the less violated") {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const auto points = grid_points(random, 25, 2, 5);
    std::vector<double> violations(points.size());
    for (double& violation : violations)
      violation = std::max(0.0, static_cast<double>(random.below(6)) - 2.0);
    CHECK(ranks(points, violations) == slow_ranks(points, violations));
  }
  const std::vector<Point> two{{9, 9}, {0, 0}};
  CHECK(ranks(two, std::vector<double>{0, 1e-9}) == std::vector<int>{0, 1});
  CHECK(ranks(two, std::vector<double>{2, 1}) == std::vector<int>{1, 0});
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  CHECK(ranks(two, std::vector<double>{1e9, unknown}) == std::vector<int>{0, 1});
}

TEST_CASE("crowding is the relative extent of the neighbours' box") {
  // By hand: extents 4 and 8; the second point lies between 0 and 2 and between 8 and 2.
  const std::vector<Point> front{{0, 8}, {1, 4}, {2, 2}, {4, 0}};
  const auto distances = crowding_distance(front);
  CHECK(distances[0] == infinity);
  CHECK(distances[3] == infinity);
  CHECK(distances[1] == Approx(2.0 / 4 + 6.0 / 8));
  CHECK(distances[2] == Approx(3.0 / 4 + 4.0 / 8));
  CHECK(crowding_distance({}).empty());
}

TEST_CASE("an objective without differences adds nothing to crowding") {
  const std::vector<Point> front{{1, 5}, {1, 5}, {1, 5}};
  CHECK(crowding_distance(front) == std::vector<double>{0, 0, 0});
}

TEST_CASE("infinite values leave no crowding distance undefined") {
  const std::vector<Point> front{{-infinity, 3}, {0, 2}, {1, 1}, {infinity, 0}};
  for (const double distance : crowding_distance(front)) CHECK_FALSE(std::isnan(distance));
}

TEST_CASE("hypervolume equals inclusion and exclusion") {
  Random random(3);
  for (int round = 0; round < 80; ++round) {
    const std::size_t objectives = 1 + random.below(5);
    std::vector<Point> points(1 + random.below(9), Point(objectives));
    for (Point& point : points)
      for (double& value : point) value = random.uniform(0, 1.3);
    const Point reference(objectives, 1.0);
    CHECK(hypervolume(points, reference) ==
          Approx(inclusion_exclusion(points, reference)).epsilon(1e-9).margin(1e-12));
  }
}

TEST_CASE("hypervolume of grid points is the number of covered cells") {
  Random random(4);
  for (const std::size_t objectives : {2, 3, 4}) {
    const int side = objectives == 4 ? 6 : 12;
    for (int round = 0; round < 10; ++round) {
      const auto points = grid_points(random, 40, objectives, static_cast<std::uint64_t>(side));
      CHECK(hypervolume(points, Point(objectives, side)) ==
            Approx(counted_cells(points, objectives, side)).epsilon(1e-12));
    }
  }
}

TEST_CASE("points outside of the reference add no volume") {
  CHECK(hypervolume(std::vector<Point>{{2, 0}, {0, 2}, {1, 1}}, {1, 1}) == 0);
  CHECK(hypervolume({}, {1, 1}) == 0);
  CHECK(hypervolume(std::vector<Point>{{0.5, -infinity}}, {1, 1}) == infinity);
}

TEST_CASE("the best trials are complete, feasible and not dominated") {
  std::vector<Trial> trials{complete(0, {1, 1}),       complete(1, {2, 2}), complete(2, {1, 1}),
                            complete(3, {0, 0}, 0.25), complete(4, {0, 3}), complete(5, {3, -1})};
  trials[5].state = TrialState::pruned;
  const std::vector<Direction> down(2, Direction::minimize);
  CHECK(best_trials(trials, down) == std::vector<std::size_t>{0, 4});
  const std::vector<Direction> mixed{Direction::minimize, Direction::maximize};
  CHECK(best_trials(trials, mixed) == std::vector<std::size_t>{4});
}

TEST_CASE("with one objective there is one best trial, the first of the equal ones") {
  const std::vector<Trial> trials{complete(4, {2}), complete(5, {7}), complete(6, {7})};
  CHECK(best_trials(trials, {Direction::maximize}) == std::vector<std::size_t>{1});
  CHECK(best_trials(trials, {Direction::minimize}) == std::vector<std::size_t>{0});
  CHECK(best_trials({}, {Direction::minimize}).empty());
}

TEST_CASE("points that come one by one have the ranks of all together") {
  Random random(11);
  for (const std::size_t objectives : {1, 2, 3})
    for (const std::uint64_t values : {4, 1000}) {
      Fronts fronts;
      std::vector<Point> points;
      for (std::size_t place = 0; place < 300; ++place) {
        Point point;
        for (std::size_t i = 0; i < objectives; ++i)
          point.push_back(static_cast<double>(random.below(values)));
        points.push_back(point);
        fronts.add(std::move(point), place);
      }
      const std::vector<int> expected = ranks(points);
      std::size_t total = 0;
      for (std::size_t rank = 0; rank < fronts.count(); ++rank)
        for (const Fronts::Member& member : fronts.front(rank)) {
          REQUIRE(expected[member.place] == static_cast<int>(rank));
          ++total;
        }
      REQUIRE(total == points.size());
    }
}

TEST_CASE("a value that is no number counts as the worst") {
  const Trial trial = complete(0, {std::numeric_limits<double>::quiet_NaN(), 2});
  CHECK(point_of(trial, {Direction::maximize, Direction::maximize}) == Point{infinity, -2});
}
