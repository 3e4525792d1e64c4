// SPDX-License-Identifier: Apache-2.0
// NSGA-III's reference points, normalisation and association on cases worked by hand.
#include "search/samplers/reference_points.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.hpp"

using namespace mase;
using namespace mase::samplers;

TEST_CASE("reference points are all whole parts of the simplex") {
  // binomial(3 + 4 - 1, 4) = 15 for 3 objectives in 4 parts.
  const auto points = reference_points(3, 4);
  CHECK(points.size() == 15);
  CHECK(std::set<Point>(points.begin(), points.end()).size() == 15);
  for (const Point& point : points)
    CHECK(std::accumulate(point.begin(), point.end(), 0.0) == Approx(1));
  CHECK(reference_points(2, 3) ==
        std::vector<Point>{{0, 1}, {1.0 / 3, 2.0 / 3}, {2.0 / 3, 1.0 / 3}, {1, 0}});
  CHECK(reference_points(1, 7) == std::vector<Point>{{1}});
}

TEST_CASE("too many reference points are refused") {
  CHECK_THROWS_WITH(reference_points(8, 100),
                    Catch::Contains("dividing_parameter 100") && Catch::Contains("8 objectives"));
}

TEST_CASE("normalisation takes the ideal point to 0 and the plane of extreme points to 1") {
  // On the plane (f1 - 10) / 2 + (f2 - 20) / 4 = 1 with extreme points (10, 24) and (12, 20).
  const auto points = normalised({{10, 24}, {12, 20}, {11, 22}, {10.5, 21}});
  CHECK(points[0][0] == Approx(0).margin(1e-12));
  CHECK(points[0][1] == Approx(1));
  CHECK(points[1][0] == Approx(1));
  CHECK(points[2][0] == Approx(0.5));
  CHECK(points[2][1] == Approx(0.5));
  CHECK(points[3][0] == Approx(0.25));
  CHECK(points[3][1] == Approx(0.25));
}

TEST_CASE("where the extreme points span no plane the worst values take its place") {
  const auto points = normalised({{1, 1}, {3, 5}});  // (1, 1) is extreme for both objectives
  CHECK(points == std::vector<Point>{{0, 0}, {1, 1}});
  CHECK(normalised({{2, 7}, {2, 7}}) == std::vector<Point>{{0, 0}, {0, 0}});
  CHECK(normalised({}).empty());
}

TEST_CASE("infinite objectives are normalised to finite numbers") {
  const auto points = normalised({{0, 4}, {1, 2}, {HUGE_VAL, 0}, {-HUGE_VAL, 1}});
  for (const Point& point : points)
    for (const double value : point) CHECK(std::isfinite(value));
}

TEST_CASE("points belong to the nearest line through a reference point") {
  const auto directions = reference_points(2, 2);  // (0, 1), (1/2, 1/2), (1, 0)
  const auto found = associate({{0.1, 2}, {3, 3}, {1, 0.9}, {5, 0.5}, {0, 0}}, directions);
  CHECK(found[0].direction == 0);
  CHECK(found[0].distance == Approx(0.1));
  CHECK(found[1].direction == 1);
  CHECK(found[1].distance == Approx(0).margin(1e-7));
  CHECK(found[2].direction == 1);
  CHECK(found[2].distance == Approx(0.1 / std::sqrt(2)));
  CHECK(found[3].direction == 2);
  CHECK(found[3].distance == Approx(0.5));
  CHECK(found[4].distance == 0);
}
