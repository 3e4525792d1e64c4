// SPDX-License-Identifier: Apache-2.0
// TPE as a sampler: pure, within ranges and conditions, deaf to foreign trials, and better than
// chance.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"
#include "search/samplers/random.hpp"
#include "search/samplers/sampler.hpp"

using namespace mase;
using namespace mase::samplers;

namespace {

const Space mixed{{"format", CategoricalDistribution{{Tree("integer"), Tree("float")}}, {}},
                  {"width", IntDistribution{2, 9, 3, false}, Condition{"format", {0}}},
                  {"exponent", IntDistribution{1, 100, 1, true}, Condition{"format", {1}}},
                  {"rate", FloatDistribution{1e-5, 0.1, std::nullopt, true}, {}},
                  {"share", FloatDistribution{0, 1, 0.3, false}, {}},
                  {"shift", FloatDistribution{-3, 5}, {}},
                  {"fixed", IntDistribution{4, 4}, {}}};

std::unique_ptr<Sampler> make(const Space& space, std::uint64_t seed, Tree options = Tree::dict(),
                              std::size_t objectives = 1) {
  return find_sampler("tpe")->make({space, std::vector(objectives, Direction::minimize), seed},
                                   options);
}

/// Best where format is float, exponent 10, rate 1e-3, share 0.3, shift 1.
double loss(const Params& p) {
  double sum = std::abs(p.at("share") - 0.3) + std::pow(std::log10(p.at("rate")) + 3, 2) +
               std::pow(p.at("shift") - 1, 2);
  sum += p.contains("width") ? 3 : std::abs(std::log10(p.at("exponent")) - 1);
  return sum;
}

std::vector<Trial> run(Sampler& sampler, std::int64_t count) {
  std::vector<Trial> history;
  for (std::int64_t number = 0; number < count; ++number) {
    Trial trial;
    trial.number = number;
    trial.params = sampler.suggest(history, number).params;
    trial.state = TrialState::complete;
    trial.values = {loss(trial.params)};
    history.push_back(std::move(trial));
  }
  return history;
}

double best_of(const std::vector<Trial>& history) {
  double best = history.front().values[0];
  for (const Trial& trial : history) best = std::min(best, trial.values[0]);
  return best;
}

void require_valid(const Space& space, const Params& params) {
  std::size_t active = 0;
  for (const Dimension& dimension : space) {
    REQUIRE(is_active(dimension, params) == params.contains(dimension.name));
    if (!params.contains(dimension.name)) continue;
    INFO(dimension.name << " = " << params.at(dimension.name));
    REQUIRE(contains(dimension.distribution, params.at(dimension.name)));
    ++active;
  }
  REQUIRE(active == params.size());
}

Tree option(std::string_view name, Tree value) {
  Tree options = Tree::dict();
  options[name] = std::move(value);
  return options;
}

}  // namespace

TEST_CASE("every suggestion has exactly the active dimensions, with values of their ranges") {
  for (const Tree& multivariate : {Tree("NA"), Tree(false)})
    for (std::uint64_t seed = 0; seed < 3; ++seed)
      for (const Trial& trial : run(*make(mixed, seed, option("multivariate", multivariate)), 60))
        require_valid(mixed, trial.params);
}

TEST_CASE("the same seed, history and number give the same suggestion in any order of calls") {
  const auto history = run(*make(mixed, 1), 40);
  const std::span<const Trial> all(history);
  const auto sampler = make(mixed, 1);
  for (std::int64_t number : {39, 11, 25, 3, 25}) {
    const auto known = all.first(static_cast<std::size_t>(number));
    REQUIRE(sampler->suggest(known, number).params == history[number].params);
    REQUIRE(make(mixed, 1)->suggest(known, number).params == history[number].params);
  }
  auto other = history;  // the same numbers with other contents: nothing may be remembered
  std::reverse(other.begin(), other.end());
  for (std::size_t i = 0; i < other.size(); ++i) other[i].number = static_cast<std::int64_t>(i);
  REQUIRE(sampler->suggest(other, 40).params == make(mixed, 1)->suggest(other, 40).params);
  REQUIRE(make(mixed, 2)->suggest(all, 40).params != make(mixed, 1)->suggest(all, 40).params);
}

TEST_CASE("the first trials are drawn uniformly, counting complete and pruned ones") {
  auto history = run(*make(mixed, 5), 10);
  const auto random = find_sampler("random")->make({mixed, {Direction::minimize}, 5}, Tree::dict());
  for (const Trial& trial : history)
    REQUIRE(random->suggest({}, trial.number).params == trial.params);
  history[3].state = TrialState::fail;
  REQUIRE(make(mixed, 5)->suggest(history, 10).params == random->suggest({}, 10).params);
  history[3].state = TrialState::pruned;
  REQUIRE(make(mixed, 5)->suggest(history, 10).params != random->suggest({}, 10).params);
}

TEST_CASE("it finds better points than uniform draws, under the better condition") {
  int wins = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto ours = run(*make(mixed, seed), 60);
    const auto random =
        find_sampler("random")->make({mixed, {Direction::minimize}, seed + 100}, Tree::dict());
    wins += best_of(ours) < best_of(run(*random, 60));
    const auto better = std::count_if(ours.end() - 20, ours.end(), [](const Trial& trial) {
      return trial.params.contains("exponent");
    });
    REQUIRE(better >= 12);
  }
  REQUIRE(wins >= 9);
}

TEST_CASE("values outside of the range, and unknown parameters, do not count") {
  auto history = run(*make(mixed, 1), 20);
  const auto lacking = [&](Trial& trial) { trial.params.erase("shift"); };
  auto foreign = history;
  for (std::size_t i : {2U, 7U, 12U}) {
    lacking(history[i]);
    foreign[i].params["shift"] = 99;
    foreign[i].params["another"] = 1;
  }
  const auto suggestion = make(mixed, 1)->suggest(foreign, 20).params;
  REQUIRE(suggestion == make(mixed, 1)->suggest(history, 20).params);
  require_valid(mixed, suggestion);
  for (Trial& trial : foreign) trial.params = {{"another", 2.0}};
  require_valid(mixed, make(mixed, 1)->suggest(foreign, 20).params);
}

TEST_CASE("running trials repel, unless the constant liar is off; the trial itself is no history") {
  const Space line{{"x", FloatDistribution{0, 1}, {}}};
  std::vector<Trial> history(12);
  for (std::size_t i = 0; i < history.size(); ++i) {
    history[i].number = static_cast<std::int64_t>(i);
    history[i].state = TrialState::complete;
    history[i].params["x"] = static_cast<double>(i) / 12;
    history[i].values = {std::abs(history[i].params["x"] - 0.5)};
  }
  const double x = make(line, 3)->suggest(history, 20).params["x"];
  auto crowded = history;  // eight workers are where the suggestion would be
  for (std::int64_t number = 12; number < 20; ++number) {
    Trial& running = crowded.emplace_back();
    running.number = number;
    running.params["x"] = x;
  }
  REQUIRE(make(line, 3, option("constant_liar", false))->suggest(crowded, 20).params["x"] == x);
  REQUIRE(std::abs(make(line, 3)->suggest(crowded, 20).params["x"] - x) > 0.01);
  auto self = history;
  self.push_back(crowded.back());
  self.back().number = 20;
  REQUIRE(make(line, 3)->suggest(self, 20).params["x"] == x);
}

TEST_CASE("several objectives are searched one dimension at a time") {
  const Space square{{"x", FloatDistribution{0, 1}, {}}, {"y", FloatDistribution{0, 1}, {}}};
  const auto sampler = make(square, 0, Tree::dict(), 2);
  std::vector<Trial> history;
  double late = 0;  // the front is y = 0
  for (std::int64_t number = 0; number < 80; ++number) {
    Trial& trial = history.emplace_back();
    trial.number = number;
    trial.params = sampler->suggest(std::span(history).first(history.size() - 1), number).params;
    trial.state = TrialState::complete;
    const double x = trial.params["x"], y = trial.params["y"];
    trial.values = {x + y, 1 - x + y};
    if (number >= 50) late += y / 30;
  }
  REQUIRE(late < 0.2);  // 0.5 by chance
}

TEST_CASE(
    "results that are no numbers count as the worst, complete trials without any not at all") {
  auto history = run(*make(mixed, 1), 30);
  history[4].values[0] = history[9].violation = std::nan("");
  auto worst = history;
  worst[4].values[0] = worst[9].violation = HUGE_VAL;
  REQUIRE(make(mixed, 1)->suggest(history, 30).params == make(mixed, 1)->suggest(worst, 30).params);
  history[20].values.clear();
  worst[20].state = TrialState::fail;
  REQUIRE(make(mixed, 1)->suggest(history, 30).params == make(mixed, 1)->suggest(worst, 30).params);
}

TEST_CASE("no start-up trials and no history: the prior alone suggests") {
  require_valid(mixed, make(mixed, 9, option("n_startup_trials", 0))->suggest({}, 0).params);
}

TEST_CASE("what a sampler took in of settled trials does not show, with one and two objectives") {
  for (const std::size_t objectives : {1, 2}) {
    Random random(3);
    std::vector<Trial> history;
    const auto problem = [&](std::uint64_t seed) {
      return Problem{mixed, std::vector(objectives, Direction::minimize), seed};
    };
    const auto sampler = find_sampler("tpe")->make(problem(1), Tree::dict());
    for (std::int64_t number = 0; number < 1500; ++number) {
      Trial& trial = history.emplace_back();
      trial.number = number;
      trial.params = random_params(mixed, random);
      const std::uint64_t kind = random.below(20);
      trial.state = kind == 0   ? TrialState::fail
                    : kind == 1 ? TrialState::pruned
                                : TrialState::complete;
      trial.violation = random.below(4) == 0 ? random.uniform() : 0;
      // Few different values, so that many are equal.
      for (std::size_t i = 0; i < objectives; ++i)
        trial.values.push_back(static_cast<double>(random.below(40)));
      if (number % 97 != 0) continue;
      const std::size_t settled = history.size() - std::min(history.size(), random.below(3));
      const auto fresh = find_sampler("tpe")->make(problem(1), Tree::dict());
      REQUIRE(sampler->suggest({history, settled}, number + 1).params ==
              fresh->suggest(history, number + 1).params);
      const auto other = find_sampler("tpe")->make(problem(9), Tree::dict());
      REQUIRE(fresh->suggest_again(9)->params == other->suggest(history, number + 1).params);
    }
    const std::vector<Trial> begin(history.begin(), history.begin() + 200);
    const auto fresh = find_sampler("tpe")->make(problem(1), Tree::dict());
    REQUIRE(sampler->suggest({begin, 150}, 200).params == fresh->suggest(begin, 200).params);
  }
}

TEST_CASE("options out of range and unknown ones are named") {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Tree>>{{"n_startup_trials", Tree(-1)},
                                                 {"n_ei_candidates", Tree(0)},
                                                 {"multivariate", Tree("maybe")},
                                                 {"constant_liar", Tree(2)},
                                                 {"prior_weight", Tree(0.0)},
                                                 {"gamma", Tree(1)}}) {
    Diagnostics diagnostics;
    find_sampler("tpe")->check(option(name, value), diagnostics);
    REQUIRE_THROWS_WITH(diagnostics.throw_if_errors(), Catch::Contains(name));
  }
}
