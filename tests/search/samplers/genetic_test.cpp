// SPDX-License-Identifier: Apache-2.0
// NSGA-II and NSGA-III: generations, purity, crossovers, conditional spaces, strength and speed.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "search/samplers/pareto.hpp"
#include "search/samplers/rows.hpp"

using namespace mase;
using namespace mase::samplers;

namespace {

using Objectives = std::function<std::vector<double>(const Params&)>;

Dimension number(std::string name, double low = 0, double high = 1) {
  return {std::move(name), FloatDistribution{low, high, {}, false}, {}};
}

Problem zdt_problem(std::size_t dimensions, std::uint64_t seed) {
  Problem problem;
  problem.seed = seed;
  problem.directions = {Direction::minimize, Direction::minimize};
  for (std::size_t i = 0; i < dimensions; ++i)
    problem.space.push_back(number("x" + std::to_string(i)));
  return problem;
}

std::vector<double> zdt1(const Params& params) {
  const double first = params.at("x0");
  double rest = -first;
  for (const auto& [name, value] : params) rest += value;
  const double g = 1 + 9 * rest / static_cast<double>(params.size() - 1);
  return {first, g * (1 - std::sqrt(first / g))};
}

Trial complete(std::int64_t number, Params params, std::vector<double> values) {
  Trial trial;
  trial.number = number;
  trial.state = TrialState::complete;
  trial.params = std::move(params);
  trial.values = std::move(values);
  return trial;
}

std::vector<Trial> run(Sampler& sampler, std::int64_t trials, const Objectives& objectives) {
  std::vector<Trial> history;
  for (std::int64_t n = 0; n < trials; ++n) {
    Suggestion suggestion = sampler.suggest(history, n);
    auto values = objectives(suggestion.params);
    history.push_back(complete(n, std::move(suggestion.params), std::move(values)));
    history.back().attributes = suggestion.attributes;
  }
  return history;
}

std::unique_ptr<Sampler> make(const std::string& name, const Problem& problem,
                              const std::string& options = "{}") {
  return find_sampler(name)->make(problem, parse_json(options, "options"));
}

double volume(const std::vector<Trial>& history, const Point& reference) {
  std::vector<Point> points;
  for (const Trial& trial : history) points.push_back(trial.values);
  return hypervolume(points, reference);
}

bool same(const Suggestion& a, const Suggestion& b) {
  return a.params == b.params && a.attributes == b.attributes;
}

/// A space with a choice that decides over two further dimensions.
Problem conditional_problem() {
  Problem problem;
  problem.directions = {Direction::minimize, Direction::minimize};
  problem.space = {{"kind", CategoricalDistribution{{"a", "b", "c"}}, {}},
                   {"width", IntDistribution{2, 16, 2, false}, Condition{"kind", {0, 1}}},
                   {"rate", FloatDistribution{1e-5, 1, {}, true}, Condition{"kind", {1}}},
                   {"bits", FloatDistribution{0, 1, 0.25, false}, {}},
                   {"fixed", IntDistribution{3, 3, 1, false}, {}}};
  return problem;
}

bool is_in_space(const Space& space, const Params& params) {
  std::size_t active = 0;
  for (const Dimension& dimension : space) {
    if (!is_active(dimension, params)) continue;
    ++active;
    const auto found = params.find(dimension.name);
    if (found == params.end() || !contains(dimension.distribution, found->second)) return false;
  }
  return active == params.size();
}

std::vector<double> conditional_objectives(const Params& params) {
  const auto get = [&](const char* name, double other) {
    return params.contains(name) ? params.at(name) : other;
  };
  return {get("width", 20) + get("bits", 0), params.at("kind") - get("rate", 0)};
}

}  // namespace

TEST_CASE("every population_size complete trials begin a generation, which the attribute tells") {
  for (const std::string name : {"nsgaii", "nsgaiii"}) {
    const std::string key =
        name == "nsgaii" ? "NSGAIISampler:generation" : "NSGAIIISampler:generation";
    const auto sampler = make(name, zdt_problem(4, 1), R"({"population_size": 8})");
    const auto history = run(*sampler, 33, zdt1);
    for (const Trial& trial : history) CHECK(trial.attributes.at(key).as_int() == trial.number / 8);
  }
}

TEST_CASE("a genetic suggestion depends on seed, history and number alone") {
  for (const std::string name : {"nsgaii", "nsgaiii"}) {
    const Problem problem = zdt_problem(5, 3);
    const std::string options = R"({"population_size": 10})";
    const auto used = make(name, problem, options);
    auto history = run(*used, 60, zdt1);
    // A fresh sampler says at every point what the one that saw all the steps said.
    for (const std::size_t size : {0, 9, 10, 35, 59}) {
      const std::span<const Trial> begin = std::span(history).first(size);
      const auto fresh = make(name, problem, options);
      const Suggestion suggestion = fresh->suggest(begin, static_cast<std::int64_t>(size));
      CHECK(suggestion.params == history[size].params);
      CHECK(same(suggestion, used->suggest(begin, static_cast<std::int64_t>(size))));
    }
    // Another past leads to another answer, also for the sampler that knew the first one.
    std::swap(history[3].values, history[14].values);
    for (Trial& trial : history) trial.values[1] = -trial.values[1];
    const auto fresh = make(name, problem, options);
    CHECK(same(fresh->suggest(history, 60), used->suggest(history, 60)));
    const auto other = make(name, zdt_problem(5, 4), options);
    CHECK_FALSE(same(other->suggest(history, 60), used->suggest(history, 60)));
  }
}

TEST_CASE("only complete trials with values for every objective make generations") {
  const auto sampler = make("nsgaii", zdt_problem(2, 1), R"({"population_size": 2})");
  std::vector<Trial> history;
  for (int n = 0; n < 8; ++n)
    history.push_back(complete(n, {{"x0", 0.1 * n}, {"x1", 0.5}}, {1, 1}));
  history[0].state = TrialState::fail;
  history[1].state = TrialState::running;
  history[2].values = {1};
  history[3].params = {{"y", 1}};
  history[4].params = {{"x0", 7}, {"x1", 0.5}};  // outside of the space
  CHECK(sampler->suggest(history, 8).attributes.at("NSGAIISampler:generation").as_int() == 1);
}

TEST_CASE("a child takes from its parents what it does not take from chance") {
  for (const std::string name : {"nsgaii", "nsgaiii"}) {
    const auto sampler =
        make(name, zdt_problem(6, 2), R"({"population_size": 4, "mutation_prob": 0})");
    auto history = run(*sampler, 4, zdt1);
    for (std::int64_t n = 4; n < 30; ++n) {
      const Params child = sampler->suggest(history, n).params;
      for (const auto& [dimension, value] : child)
        CHECK(std::any_of(
            history.begin(), history.end(),
            [&, d = dimension, v = value](const Trial& trial) { return trial.params.at(d) == v; }));
    }
  }
}

TEST_CASE("with certain mutation a child is random") {
  const auto sampler =
      make("nsgaii", zdt_problem(3, 2), R"({"population_size": 2, "mutation_prob": 1})");
  const std::vector<Trial> history{complete(0, {{"x0", 0}, {"x1", 0}, {"x2", 0}}, {0, 0}),
                                   complete(1, {{"x0", 0}, {"x1", 0}, {"x2", 0}}, {0, 0})};
  double sum = 0;
  for (int n = 2; n < 502; ++n) sum += sampler->suggest(history, n).params.at("x1");
  CHECK(sum / 500 == Approx(0.5).margin(5 * std::sqrt(1.0 / 12 / 500)));
}

TEST_CASE("parents are the best: feasible before infeasible, then by rank") {
  // Generation 0 holds 4 trials; with P = 4 its parents are all of it. Only the two feasible trials
  // of generation 1 that dominate survive, together with the two best of before.
  for (const std::string name : {"nsgaii", "nsgaiii"}) {
    const auto sampler =
        make(name, zdt_problem(2, 2), R"({"population_size": 4, "mutation_prob": 0})");
    std::vector<Trial> history;
    for (int n = 0; n < 8; ++n) {
      const double quality =
          std::vector<double>{9, 1, 8, 2, 3, 0, 4, 0}[static_cast<std::size_t>(n)];
      history.push_back(complete(n, {{"x0", n / 10.0}, {"x1", n / 10.0}}, {quality, quality}));
    }
    history[5].violation = history[7].violation = 0.5;  // values 0, but not feasible
    std::set<double> seen;
    for (int n = 8; n < 200; ++n)
      for (const auto& [dimension, value] : sampler->suggest(history, n).params) seen.insert(value);
    CHECK(seen == std::set<double>{0.1, 0.3, 0.4, 0.6});
  }
}

TEST_CASE("children of conditional spaces are inside of them, by every crossover") {
  for (const std::string name : {"nsgaii", "nsgaiii"})
    for (const std::string crossover : {"uniform", "blxalpha", "sbx", "vsbx", "spx", "undx"}) {
      const Problem problem = conditional_problem();
      const auto sampler =
          make(name, problem, R"({"population_size": 6, "crossover": ")" + crossover + "\"}");
      for (const Trial& trial : run(*sampler, 80, conditional_objectives))
        CHECK(is_in_space(problem.space, trial.params));
    }
}

TEST_CASE("nothing is suggested twice as long as there is something new") {
  Problem problem;
  problem.directions = {Direction::minimize};
  for (const char* name : {"a", "b", "c"})
    problem.space.push_back({name, CategoricalDistribution{{0, 1, 2, 3, 4}}, {}});
  const auto sampler = make("nsgaii", problem, R"({"population_size": 10})");
  std::set<Params> different;
  for (const Trial& trial : run(*sampler, 60, [](const Params& params) {
         return std::vector<double>{params.at("a") + params.at("b") + params.at("c")};
       }))
    different.insert(trial.params);
  CHECK(different.size() >= 58);
}

TEST_CASE("an empty space and a space of one point are searched without complaint") {
  for (const std::string name : {"nsgaii", "nsgaiii"}) {
    Problem problem = zdt_problem(0, 1);
    const auto objectives = [](const Params&) { return std::vector<double>{1, 1}; };
    const auto empty = make(name, problem, R"({"population_size": 3})");
    for (const Trial& trial : run(*empty, 10, objectives)) CHECK(trial.params.empty());
    problem.space.push_back({"only", CategoricalDistribution{{"this"}}, {}});
    const auto single = make(name, problem, R"({"population_size": 3})");
    for (const Trial& trial : run(*single, 10, objectives))
      CHECK(trial.params == Params{{"only", 0}});
  }
}

TEST_CASE("infinite values do not stop a genetic search") {
  for (const std::string name : {"nsgaii", "nsgaiii"}) {
    const Problem problem = zdt_problem(3, 5);
    const auto sampler = make(name, problem, R"({"population_size": 5})");
    const auto history = run(*sampler, 40, [](const Params& params) {
      const double x = params.at("x0");
      return std::vector<double>{x < 0.3 ? HUGE_VAL : x, x > 0.8 ? -HUGE_VAL : -x};
    });
    CHECK(is_in_space(problem.space, history.back().params));
  }
}

TEST_CASE("every genetic search leaves random search far behind on ZDT1") {
  // Area between the true front and the reference (1.1, 6): 1.1 * 6 minus the integral of
  // 1 - sqrt(x) over [0, 1], which is 1/3.
  const double best = 1.1 * 6 - 1.0 / 3 - 0.0;
  const Point reference{1.1, 6};
  for (const std::uint64_t seed : {0, 1, 2}) {
    const Problem problem = zdt_problem(30, seed);
    const double random = volume(run(*make("random", problem), 600, zdt1), reference);
    for (const std::string name : {"nsgaii", "nsgaiii"}) {
      const double genetic = volume(run(*make(name, problem), 600, zdt1), reference);
      CHECK(genetic - random > 0.2 * (best - random));
      CHECK(genetic < best);
    }
    for (const std::string crossover : {"blxalpha", "sbx", "vsbx", "spx", "undx"}) {
      const auto sampler = make("nsgaii", problem, "{\"crossover\": \"" + crossover + "\"}");
      INFO(crossover);
      CHECK(volume(run(*sampler, 600, zdt1), reference) > random);
    }
  }
}

TEST_CASE("constraints are met by most of a genetic search's later trials") {
  const auto sampler = make("nsgaii", zdt_problem(5, 1), R"({"population_size": 20})");
  std::vector<Trial> history;
  int feasible = 0;
  for (std::int64_t n = 0; n < 400; ++n) {
    Params params = sampler->suggest(history, n).params;
    auto values = zdt1(params);
    history.push_back(complete(n, params, std::move(values)));
    history.back().violation = std::max(0.0, params.at("x1") - 0.05);
    feasible += n >= 300 && history.back().violation == 0;
  }
  CHECK(feasible > 60);  // 5 of 100 by chance; of children of feasible parents about four in five
}

TEST_CASE("a crossover of three parents refuses a population of two") {
  CHECK_THROWS_WITH(
      make("nsgaii", zdt_problem(2, 0), R"({"population_size": 2, "crossover": "spx"})"),
      Catch::Contains("spx") && Catch::Contains("3"));
}

TEST_CASE("a genetic suggestion takes less than a millisecond at 50 choices and 1000 trials",
          "[.timing]") {
  Problem problem;
  problem.directions = {Direction::minimize, Direction::minimize};
  for (int i = 0; i < 50; ++i)
    problem.space.push_back(
        {"layer" + std::to_string(i), CategoricalDistribution{{2, 3, 4, 6, 8}}, {}});
  for (const std::string name : {"nsgaii", "nsgaiii"}) {
    const auto sampler = make(name, problem);
    const auto start = std::chrono::steady_clock::now();
    run(*sampler, 1000, [](const Params& params) {
      double loss = 0, bits = 0;
      for (const auto& [layer, choice] : params) {
        loss += std::pow(4.0, -choice);
        bits += choice;
      }
      return std::vector<double>{loss, bits};
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    CHECK(seconds.count() < 1.0);  // a thousand suggestions
  }
}
