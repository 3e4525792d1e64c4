// SPDX-License-Identifier: Apache-2.0
// Allocation against the best of all combinations, at borders, and on a large case.
#include "search/samplers/allocate.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <future>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "support/infinity.hpp"

using namespace mase;
using namespace mase::samplers;
using mase::test::infinity;

namespace {

using Matrix = std::vector<std::vector<double>>;

double sum_of(const Matrix& matrix, const std::vector<std::size_t>& choices) {
  double sum = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) sum += matrix[i][choices[i]];
  return sum;
}

bool is_within(const Allocation& problem, const std::vector<std::size_t>& choices) {
  for (const auto& budget : problem.budgets)
    if (!(sum_of(budget.cost, choices) <= budget.bound)) return false;
  return true;
}

/// Least loss over all combinations; infinity when none is within the budgets.
double brute_force(const Allocation& problem) {
  std::vector<std::size_t> choices(problem.loss.size(), 0);
  double best = infinity;
  for (std::size_t i = 0; i < choices.size();) {
    if (is_within(problem, choices)) best = std::min(best, sum_of(problem.loss, choices));
    for (i = 0; i < choices.size() && ++choices[i] == problem.loss[i].size(); ++i) choices[i] = 0;
  }
  return best;
}

/// Layers of 1 to 4 choices; costs are multiples of `grain`, so that sums meet bounds exactly.
Allocation random_problem(Random& random, std::size_t layers, std::size_t budgets, double grain) {
  Allocation problem;
  for (std::size_t i = 0; i < layers; ++i) problem.loss.emplace_back(1 + random.below(4));
  for (auto& row : problem.loss)
    for (double& loss : row) loss = random.uniform(-1, 5);
  for (std::size_t b = 0; b < budgets; ++b) {
    Allocation::Budget budget{problem.loss, 0};
    for (auto& row : budget.cost)
      for (double& cost : row) cost = grain * static_cast<double>(random.below(12));
    budget.bound = grain * static_cast<double>(random.below(8 * layers));
    problem.budgets.push_back(std::move(budget));
  }
  return problem;
}

void agrees_with_brute_force(const Allocation& problem, int& infeasible) {
  const double best = brute_force(problem);
  const auto choices = allocate(problem);
  REQUIRE(choices.has_value() == (best < infinity));
  infeasible += !choices;
  if (!choices) return;
  CHECK(is_within(problem, *choices));
  CHECK(sum_of(problem.loss, *choices) == Approx(best).epsilon(1e-9).margin(1e-9));
}

/// `layers` layers of widths 2, 3, 4, 6, 8 whose loss falls by 4 per bit, within `bound` bits each.
Allocation bit_problem(std::size_t layers, double bound) {
  Random random(7);
  Allocation problem;
  Allocation::Budget bits, memory;
  for (std::size_t i = 0; i < layers; ++i) {
    const double sensitivity = random.uniform(0.1, 10);
    const double size = 100 + static_cast<double>(random.below(100000));
    std::vector<double> loss, width, bytes;
    for (const int b : {2, 3, 4, 6, 8}) {
      loss.push_back(sensitivity * std::pow(4.0, -b));
      width.push_back(b);
      bytes.push_back(size * b / 8);
      memory.bound += size * bound / 8 / 5;
    }
    problem.loss.push_back(loss);
    bits.cost.push_back(width);
    memory.cost.push_back(bytes);
  }
  bits.bound = bound * static_cast<double>(layers);
  problem.budgets = {bits, memory};
  return problem;
}

/// Least loss with one budget of whole costs, by dynamic programming over what has been spent.
double by_spending(const Allocation& problem) {
  const auto bound = static_cast<std::size_t>(problem.budgets[0].bound);
  std::vector<double> best(bound + 1, 0.0);
  for (std::size_t i = 0; i < problem.loss.size(); ++i) {
    std::vector<double> next(bound + 1, infinity);
    for (std::size_t j = 0; j < problem.loss[i].size(); ++j) {
      const auto cost = static_cast<std::size_t>(problem.budgets[0].cost[i][j]);
      for (std::size_t spent = cost; spent <= bound; ++spent)
        next[spent] = std::min(next[spent], best[spent - cost] + problem.loss[i][j]);
    }
    best = std::move(next);
  }
  return best[bound];
}

}  // namespace

TEST_CASE("an allocation is the best of all combinations") {
  Random random(1);
  int infeasible = 0;
  for (int round = 0; round < 200; ++round)
    agrees_with_brute_force(
        random_problem(random, 1 + random.below(6), random.below(4), round % 2 ? 1.0 : 0.1),
        infeasible);
  CHECK(infeasible > 10);
  CHECK(infeasible < 150);
}

TEST_CASE("an allocation of sixty layers loses what dynamic programming finds") {
  for (const double bits : {2.0, 2.3, 3.7, 5.0, 7.9}) {
    Allocation problem = bit_problem(60, bits);
    problem.budgets.pop_back();
    problem.budgets[0].bound = std::floor(problem.budgets[0].bound);
    const auto choices = allocate(problem);
    REQUIRE(choices);
    CHECK(is_within(problem, *choices));
    CHECK(sum_of(problem.loss, *choices) == Approx(by_spending(problem)).epsilon(1e-8));
  }
}

TEST_CASE("large and tiny costs in one program make no difference") {
  Random random(2);
  int infeasible = 0;
  for (const double grain : {1e-9, 1e7, 1e12})
    for (int round = 0; round < 30; ++round) {
      Allocation problem = random_problem(random, 5, 2, grain);
      for (auto& row : problem.budgets[1].cost)
        for (double& cost : row) cost /= grain;
      problem.budgets[1].bound /= grain;
      agrees_with_brute_force(problem, infeasible);
    }
}

TEST_CASE("a budget is kept in doubles, to the last bit") {
  // 0.1 + 0.1 + 0.1 is above 0.3 in doubles, and within the next double after 0.3.
  Allocation problem{{{0, 1}, {0, 1}, {0, 1}}, {{{{0.1, 0}, {0.1, 0}, {0.1, 0}}, 0.3}}};
  const auto choices = allocate(problem);
  REQUIRE(choices);
  CHECK(sum_of(problem.loss, *choices) == 1);
  problem.budgets[0].bound = std::nextafter(0.3, 1);
  CHECK(allocate(problem) == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("without budgets every layer takes its least loss") {
  CHECK(allocate({{{3, 1, 2}, {5, 7}}, {}}) == std::vector<std::size_t>{1, 0});
  CHECK(allocate({}) == std::vector<std::size_t>{});
}

TEST_CASE("an infinite loss or cost forbids a choice") {
  const Allocation::Budget budget{{{infinity, 1, 1}}, 10};
  CHECK(allocate({{{0, infinity, 5}}, {budget}}) == std::vector<std::size_t>{2});
  CHECK_FALSE(allocate({{{0, infinity}}, {{{{infinity, 1}}, 10}}}));
  CHECK(allocate({{{0, 1}}, {{{{infinity, 1}}, infinity}}}) == std::vector<std::size_t>{0});
  CHECK_FALSE(allocate({{{0, 1}}, {{{{0, 1}}, -infinity}}}));
}

TEST_CASE("wrong numbers name the layer and the choice") {
  using Catch::Contains;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(allocate({{{0, 1}, {nan}}, {}}), Contains("loss of choice 0 of layer 1"));
  CHECK_THROWS_WITH(allocate({{{0, 1}}, {{{{0, -infinity}}, 1}}}),
                    Contains("cost 0 of choice 1 of layer 0"));
  CHECK_THROWS_WITH(allocate({{{0}, {}}, {}}), Contains("layer 1 has no choices"));
  CHECK_THROWS_WITH(allocate({{{0}}, {{{{0}}, nan}}}), Contains("bound of budget 0"));
}

TEST_CASE("a hundred layers of five widths are allocated under two budgets") {
  const Allocation problem = bit_problem(100, 4.5);
  const auto choices = allocate(problem);
  REQUIRE(choices);
  CHECK(is_within(problem, *choices));
}

TEST_CASE("a hundred layers of five widths under two budgets take less than a few seconds",
          "[.timing]") {
  const Allocation problem = bit_problem(100, 4.5);
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(allocate(problem));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(seconds.count() < 10);
}

TEST_CASE("a bound a little below a whole number of bits is no harder than the bits below it") {
  Allocation problem = bit_problem(100, 2.3);
  problem.budgets.pop_back();
  REQUIRE(problem.budgets[0].bound < 230);  // 2.3 * 100 in doubles
  const auto choices = allocate(problem);
  REQUIRE(choices);
  CHECK(sum_of(problem.budgets[0].cost, *choices) <= 229);
  CHECK(sum_of(problem.loss, *choices) == Approx(by_spending(problem)).epsilon(1e-8));
}

TEST_CASE("allocations in several threads are those of one") {
  const Allocation problem = bit_problem(20, 4.5);
  const auto expected = allocate(problem);
  std::vector<std::future<std::optional<std::vector<std::size_t>>>> runs;
  for (int run = 0; run < 6; ++run)
    runs.push_back(std::async(std::launch::async, [&] { return allocate(problem); }));
  for (auto& run : runs) CHECK(run.get() == expected);
}

TEST_CASE("an allocation prints nothing") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file);
  std::fflush(nullptr);
  const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  allocate(bit_problem(20, 4.5));
  allocate({{{0, 1}}, {{{{2, 2}}, 1}}});
  std::fflush(nullptr);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(out);
  close(err);
  CHECK(lseek(fileno(file), 0, SEEK_END) == 0);
  std::fclose(file);
}
