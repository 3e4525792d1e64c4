// SPDX-License-Identifier: Apache-2.0
// Importance against Optuna 5.0.0 on the same trials, and where the answer is plain.
#include "search/samplers/importance.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace mase;
using namespace mase::samplers;

namespace {

Problem mixed_problem(Direction direction) {
  Problem problem;
  problem.directions = {direction};
  problem.space = {{"x", FloatDistribution{-2, 2, {}, false}, {}},
                   {"rate", FloatDistribution{1e-4, 1, {}, true}, {}},
                   {"step", FloatDistribution{0, 1, 0.125, false}, {}},
                   {"width", IntDistribution{1, 64, 1, true}, {}},
                   {"depth", IntDistribution{0, 9, 1, false}, {}},
                   {"kind", CategoricalDistribution{{"a", "b", "c"}}, {}},
                   {"one", IntDistribution{3, 3, 1, false}, {}}};
  return problem;
}

/// Trial n of a history whose parameters are multiples of irrational numbers, modulo 1.
Trial mixed_trial(int n, bool conditional) {
  const auto weyl = [&](double a) { return std::fmod(n * a, 1.0); };
  const double x = -2 + 4 * weyl(0.6180339887498949);
  const double rate = 1e-4 * std::pow(10, 4 * weyl(0.4142135623730951));
  const double step = 0.125 * std::floor(9 * weyl(0.7320508075688772));
  const double width = 1 + std::floor(64 * std::pow(weyl(0.23606797749979), 3));
  const double depth = std::floor(10 * weyl(0.6457513110645906));
  const double kind = std::floor(3 * weyl(0.3166247903554));
  Trial trial;
  trial.number = n;
  trial.state = TrialState::complete;
  trial.params = {{"x", x},         {"rate", rate}, {"step", step}, {"width", width},
                  {"depth", depth}, {"kind", kind}, {"one", 3}};
  if (conditional && kind == 2) trial.params.erase("depth");
  trial.values = {x * x + 0.3 * std::fabs(std::log10(rate) + 2) + 0.2 * depth + 0.5 * (kind == 1) +
                  0.001 * width};
  return trial;
}

std::map<std::string, double> of_history(int count, bool conditional, Direction direction) {
  std::vector<Trial> trials;
  for (int n = 0; n < count; ++n) trials.push_back(mixed_trial(n, conditional));
  return importance(mixed_problem(direction), trials, 0);
}

void agrees(const std::map<std::string, double>& ours,
            const std::map<std::string, double>& reference) {
  REQUIRE(ours.size() == reference.size());
  for (const auto& [name, value] : reference) {
    INFO(name);
    CHECK(ours.at(name) == Approx(value).epsilon(1e-9).margin(1e-12));
  }
}

}  // namespace

// The reference numbers were printed by Optuna 5.0.0's PedAnovaImportanceEvaluator, normalised.
TEST_CASE("importance equals Optuna's, in both directions") {
  agrees(of_history(60, false, Direction::minimize), {{"x", 0.319264421191878},
                                                      {"rate", 0.11962708687864795},
                                                      {"step", 0.0019670108535988543},
                                                      {"width", 0.0046127042497752825},
                                                      {"depth", 0.4573162709191285},
                                                      {"kind", 0.0972125059069714},
                                                      {"one", 0}});
  agrees(of_history(60, false, Direction::maximize), {{"x", 0.044548761444991654},
                                                      {"rate", 0.06085116452551918},
                                                      {"step", 0.5861292484629702},
                                                      {"width", 0.027336673866923115},
                                                      {"depth", 0.1942445391076828},
                                                      {"kind", 0.08688961259191308},
                                                      {"one", 0}});
  agrees(of_history(25, false, Direction::minimize), {{"x", 0.7734230655933302},
                                                      {"rate", 0.008500043123910903},
                                                      {"step", 0.014943510463407675},
                                                      {"width", 0.011506944939210697},
                                                      {"depth", 0.18535011932809226},
                                                      {"kind", 0.006276316552048281},
                                                      {"one", 0}});
}

TEST_CASE("importance of a dimension that some trials lack equals Optuna's") {
  agrees(of_history(60, true, Direction::minimize), {{"x", 0.559597616045159},
                                                     {"rate", 0.2096789626034958},
                                                     {"step", 0.003447720796133843},
                                                     {"width", 0.008085017090408219},
                                                     {"depth", 0.04879936221381164},
                                                     {"kind", 0.1703913212509915},
                                                     {"one", 0}});
}

TEST_CASE("the dimension that decides alone has most of the importance, of either objective") {
  Problem problem;
  problem.directions = {Direction::minimize, Direction::minimize};
  problem.space = {{"first", CategoricalDistribution{{0, 1, 2, 3, 4}}, {}},
                   {"second", CategoricalDistribution{{0, 1, 2, 3, 4}}, {}}};
  std::vector<Trial> trials;
  for (int n = 0; n < 100; ++n) {
    Trial trial;
    trial.number = n;
    trial.state = TrialState::complete;
    trial.params = {{"first", n % 5}, {"second", n / 5 % 5}};
    trial.values = {static_cast<double>(n % 5), static_cast<double>(n / 5 % 5)};
    trials.push_back(trial);
  }
  CHECK(importance(problem, trials, 0).at("first") > 0.99);
  CHECK(importance(problem, trials, 1).at("second") > 0.99);
}

TEST_CASE("too few complete trials give no importance") {
  std::vector<Trial> trials;
  for (int n = 0; n < 9; ++n) trials.push_back(mixed_trial(n, false));
  for (std::size_t n = 3; n < 6; ++n) trials[n].state = TrialState::pruned;
  for (std::size_t n = 6; n < 9; ++n) trials[n].values = {HUGE_VAL};
  for (const auto& [name, value] : importance(mixed_problem(Direction::minimize), trials, 0)) {
    INFO(name);
    CHECK(value == 0);
  }
}
