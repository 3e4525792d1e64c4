// SPDX-License-Identifier: Apache-2.0
// Crossovers by what their papers promise of the children: bounds, means and deviations.
#include "search/samplers/crossover.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

using namespace mase;
using namespace mase::samplers;

namespace {

using Vector = std::vector<double>;

/// `count` children of one crossover.
std::vector<Vector> children(const std::string& name, const std::vector<Vector>& parents, int count,
                             double eta = 2) {
  Random random(11);
  const Crossover* crossover = find_crossover(name);
  REQUIRE(crossover != nullptr);
  REQUIRE(crossover->parents == parents.size());
  std::vector<Vector> result;
  for (int i = 0; i < count; ++i) result.push_back(crossover->cross(parents, eta, random));
  return result;
}

double mean(const std::vector<Vector>& vectors, std::size_t axis) {
  double sum = 0;
  for (const Vector& vector : vectors) sum += vector[axis];
  return sum / static_cast<double>(vectors.size());
}

double deviation(const std::vector<Vector>& vectors, std::size_t axis) {
  const double centre = mean(vectors, axis);
  double sum = 0;
  for (const Vector& vector : vectors) sum += std::pow(vector[axis] - centre, 2);
  return std::sqrt(sum / static_cast<double>(vectors.size()));
}

}  // namespace

TEST_CASE("BLX children are uniform over the box widened by half on each side") {
  const auto found = children("blxalpha", {{0.4, 0.7}, {0.6, 0.7}}, 4000);
  for (const Vector& child : found) {
    CHECK(child[0] >= 0.3);
    CHECK(child[0] <= 0.7);
    CHECK(child[1] == Approx(0.7));
  }
  CHECK(mean(found, 0) == Approx(0.5).margin(0.01));
  CHECK(deviation(found, 0) == Approx(0.4 / std::sqrt(12)).epsilon(0.05));
}

TEST_CASE("SBX children stay inside of the cube, symmetric about the parents' middle") {
  for (const double eta : {0.0, 2.0, 20.0})
    for (const Vector& child : children("sbx", {{0.01, 0.5}, {0.02, 0.99}}, 2000, eta))
      for (const double value : child) {
        CHECK(value >= -1e-12);
        CHECK(value <= 1 + 1e-12);
      }
  CHECK(mean(children("sbx", {{0.4}, {0.6}}, 8000), 0) == Approx(0.5).margin(0.005));
}

TEST_CASE("children of SBX and vSBX lie nearer to their parents the larger eta is") {
  for (const std::string name : {"sbx", "vsbx"}) {
    const auto distance = [&](double eta) {
      double sum = 0;
      for (const Vector& child : children(name, {{0.45}, {0.55}}, 3000, eta))
        sum += std::min(std::fabs(child[0] - 0.45), std::fabs(child[0] - 0.55));
      return sum;
    };
    CHECK(distance(20) < 0.5 * distance(2));
    for (const Vector& child : children(name, {{0.3, 0.8}, {0.3, 0.8}}, 50)) {
      CHECK(child[0] == Approx(0.3).margin(1e-9));
      CHECK(child[1] == Approx(0.8).margin(1e-9));
    }
  }
}

TEST_CASE("SPX children are uniform in the expanded triangle of the parents") {
  const std::vector<Vector> parents{{0.2, 0.2}, {0.8, 0.3}, {0.5, 0.9}};
  const auto found = children("spx", parents, 20000);
  // A uniform point of a triangle has its centre as mean and, along an axis, the variance of the
  // corners over 12; expansion by sqrt(2 + 2) multiplies deviations by 2.
  for (const std::size_t axis : {0, 1}) {
    const double centre = mean(parents, axis);
    double squares = 0;
    for (const Vector& parent : parents) squares += std::pow(parent[axis] - centre, 2);
    CHECK(mean(found, axis) == Approx(centre).margin(0.01));
    CHECK(deviation(found, axis) == Approx(2 * std::sqrt(squares / 12)).epsilon(0.03));
  }
}

TEST_CASE("UNDX children are normal about the middle of two parents") {
  // Along the line of the first two, half of its length; across, 0.35 / sqrt(2) of the third's
  // distance, which is 0.3.
  const auto found = children("undx", {{0.3, 0.5}, {0.7, 0.5}, {0.4, 0.8}}, 20000);
  CHECK(mean(found, 0) == Approx(0.5).margin(0.01));
  CHECK(mean(found, 1) == Approx(0.5).margin(0.01));
  CHECK(deviation(found, 0) == Approx(0.5 * 0.4).epsilon(0.03));
  CHECK(deviation(found, 1) == Approx(0.35 / std::sqrt(2) * 0.3).epsilon(0.03));
}

TEST_CASE("UNDX of equal parents and of one dimension is defined") {
  for (const Vector& child : children("undx", {{0.5}, {0.5}, {0.5}}, 20)) CHECK(child[0] == 0.5);
  const auto found = children("undx", {{0.4}, {0.6}, {0.9}}, 4000);
  CHECK(deviation(found, 0) == Approx(0.5 * 0.2).epsilon(0.05));
}

TEST_CASE("the uniform crossover is none of vectors") {
  CHECK(find_crossover("uniform") == nullptr);
  CHECK(find_crossover("sbx")->name == "sbx");
}
