// SPDX-License-Identifier: Apache-2.0
// Conditional spaces: activity, counting, numbering and groups, against plain enumeration.
#include "search/samplers/space.hpp"

#include <catch2/catch.hpp>

#include "search/samplers/trial.hpp"

using namespace mase;
using namespace mase::samplers;

namespace {

Distribution choices(int count) {
  CategoricalDistribution d;
  for (int i = 0; i < count; ++i) d.choices.emplace_back(i);
  return d;
}

/// format: 3 choices; under 0: width and frac, under 1: exponent (with bias under its value 4);
/// pool is free and stands between.
const Space tree_space{{"format", choices(3), {}},
                       {"width", IntDistribution{2, 8, 2, false}, Condition{"format", {0}}},
                       {"pool", choices(2), {}},
                       {"exponent", IntDistribution{3, 5}, Condition{"format", {1}}},
                       {"frac", IntDistribution{0, 1}, Condition{"format", {0}}},
                       {"bias", choices(3), Condition{"exponent", {4}}}};

/// Slow definition: all combinations in lexicographic order of the dimensions.
void enumerate(const Space& space, std::size_t i, Params params, std::vector<Params>& out) {
  if (i == space.size()) return out.push_back(params);
  if (!is_active(space[i], params)) return enumerate(space, i + 1, params, out);
  for (std::int64_t k = 0; k < *cardinality(space[i].distribution); ++k) {
    params[space[i].name] = value_at(space[i].distribution, k);
    enumerate(space, i + 1, params, out);
  }
}

}  // namespace

TEST_CASE("a dimension is active where its parent is present with a named value") {
  REQUIRE(is_active(tree_space[0], {}));
  REQUIRE(is_active(tree_space[1], {{"format", 0}}));
  REQUIRE_FALSE(is_active(tree_space[1], {{"format", 1}}));
  REQUIRE_FALSE(is_active(tree_space[5], {{"format", 1}}));  // its parent has no value
}

TEST_CASE("configurations are counted and numbered as nested loops would") {
  std::vector<Params> all;
  enumerate(tree_space, 0, {}, all);
  REQUIRE(all.size() == 2 * (4 * 2 + (1 + 3 + 1) + 1));
  REQUIRE(configurations(tree_space) == static_cast<std::int64_t>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i)
    REQUIRE(configuration_at(tree_space, static_cast<std::int64_t>(i)) == all[i]);
}

TEST_CASE("uncountable and huge spaces have no number of configurations") {
  REQUIRE(configurations({}) == 1);
  REQUIRE_FALSE(configurations({{"x", FloatDistribution{0, 1}, {}}}));
  REQUIRE(configurations(Space(31, {"x", choices(4), {}})) == std::int64_t{1} << 62);
  REQUIRE_FALSE(configurations(Space(32, {"x", choices(4), {}})));
  REQUIRE_FALSE(configurations({{"x", IntDistribution{0, INT64_MAX - 1}, {}}}));
}

TEST_CASE("a long range without children is numbered without walking along it") {
  const Space space{{"x", IntDistribution{0, 1'000'000'000'000}, {}}, {"y", choices(3), {}}};
  REQUIRE(configuration_at(space, 3'000'000'000'002) == Params{{"x", 1e12}, {"y", 2}});
}

TEST_CASE("groups hold the dimensions of equal conditions, parents' groups first") {
  REQUIRE(groups(tree_space) == std::vector<std::vector<std::size_t>>{{0, 2}, {1, 4}, {3}, {5}});
}

TEST_CASE("states have Optuna's words") {
  REQUIRE(state_name(TrialState::running) == "RUNNING");
  REQUIRE(state_name(TrialState::complete) == "COMPLETE");
  REQUIRE(state_name(TrialState::pruned) == "PRUNED");
  REQUIRE(state_name(TrialState::fail) == "FAIL");
  REQUIRE(state_name(TrialState::waiting) == "WAITING");
}
