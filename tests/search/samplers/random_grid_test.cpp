// SPDX-License-Identifier: Apache-2.0
// Uniform draws and the exhaustive search.
#include <catch2/catch.hpp>
#include <set>

#include "base/error.hpp"
#include "search/samplers/random.hpp"
#include "search/samplers/sampler.hpp"

using namespace mase;
using namespace mase::samplers;

namespace {

const Space small{{"bits", IntDistribution{2, 4}, {}},
                  {"shared", CategoricalDistribution{{Tree(false), Tree(true)}}, {}},
                  {"scale", FloatDistribution{0, 0.5, 0.25, false}, Condition{"shared", {1}}}};

}  // namespace

TEST_CASE("random draws depend on seed and number only, and reach every configuration") {
  const auto row = find_sampler("random");
  const auto sampler = row->make({small, {Direction::minimize}, 4}, Tree::dict());
  std::set<Params> seen;
  for (std::int64_t number = 0; number < 300; ++number)
    seen.insert(sampler->suggest({}, number).params);
  REQUIRE(seen.size() == 3 * (1 + 3));
  REQUIRE(row->make({small, {Direction::minimize}, 4}, Tree::dict())->suggest({}, 77).params ==
          sampler->suggest({}, 77).params);
}

TEST_CASE("the grid has each configuration once, in order, and begins again after the last") {
  REQUIRE(find_sampler("bruteforce") == find_sampler("grid"));
  const auto grid = find_sampler("bruteforce")->make({small, {Direction::minimize}}, Tree::dict());
  std::vector<Params> all;
  for (std::int64_t number = 0; number < 12; ++number)
    all.push_back(grid->suggest({}, number).params);
  REQUIRE(all[0] == Params{{"bits", 2}, {"shared", 0}});
  REQUIRE(all[1] == Params{{"bits", 2}, {"shared", 1}, {"scale", 0}});
  REQUIRE(all[3] == Params{{"bits", 2}, {"shared", 1}, {"scale", 0.5}});
  REQUIRE(all[4] == Params{{"bits", 3}, {"shared", 0}});
  REQUIRE(std::set<Params>(all.begin(), all.end()).size() == 12);
  REQUIRE(grid->suggest({}, 12).params == all[0]);
}

TEST_CASE("the grid refuses what it cannot count, naming the dimension") {
  const auto make = [](const Space& space) {
    find_sampler("grid")->make({space, {Direction::minimize}}, Tree::dict());
  };
  REQUIRE_THROWS_WITH(make({{"rate", FloatDistribution{0, 1}, {}}}),
                      Catch::Contains("\"rate\"") && Catch::Contains("step"));
  REQUIRE_THROWS_WITH(make(Space(70, {"x", IntDistribution{0, 1}, {}})), Catch::Contains("2^62"));
}
