// SPDX-License-Identifier: Apache-2.0
// The cheapest assignment of random networks is that of trying all assignments, whether variables
// are eliminated or the 0/1 program decides.
#include "sharding/cost_network.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

namespace mase::sharding {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double tried_cost(const CostNetwork& network, const std::vector<std::size_t>& choices) {
  double cost = 0, weight = 0;
  for (std::size_t v = 0; v < choices.size(); ++v) {
    cost += network.variables[v].costs[choices[v]];
    if (!network.variables[v].weight.empty()) weight += network.variables[v].weight[choices[v]];
  }
  for (const auto& pair : network.pairs)
    cost += pair.costs[choices[pair.first] * network.variables[pair.second].costs.size() +
                       choices[pair.second]];
  return network.most_weight >= 0 && weight > network.most_weight ? infinity : cost;
}

double least_by_trying(const CostNetwork& network) {
  std::vector<std::size_t> choices(network.variables.size(), 0);
  double least = infinity;
  for (;;) {
    least = std::min(least, tried_cost(network, choices));
    std::size_t v = 0;
    while (v < choices.size() && ++choices[v] == network.variables[v].costs.size())
      choices[v++] = 0;
    if (v == choices.size()) return least;
  }
}

class RandomNetwork {
 public:
  explicit RandomNetwork(unsigned seed) : random_(seed) {}

  CostNetwork make(bool limited) {
    CostNetwork network;
    const std::size_t count = 2 + random_() % 6;
    for (std::size_t v = 0; v < count; ++v) {
      CostNetwork::Variable variable{costs(1 + random_() % 4, 0), {}};
      if (random_() % 2 == 0) variable.weight = costs(variable.costs.size(), 0);
      network.variables.push_back(std::move(variable));
    }
    for (std::size_t i = 0; i < count * 2; ++i) {
      const std::size_t a = random_() % count, b = random_() % count;
      if (a != b)
        network.pairs.push_back(
            {a, b,
             costs(network.variables[a].costs.size() * network.variables[b].costs.size(), 9)});
    }
    if (limited) network.most_weight = static_cast<double>(random_() % (10 * count));
    return network;
  }

 private:
  /// Whole numbers, of which one in `forbidding` is infinite.
  std::vector<double> costs(std::size_t count, unsigned forbidding) {
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(forbidding > 0 && random_() % forbidding == 0 ? infinity
                                                                  : double(random_() % 20));
    return all;
  }
  std::mt19937 random_;
};

void check(const CostNetwork& network, const SolverOptions& options) {
  const double least = least_by_trying(network);
  const Assignment found = cheapest(network, options);
  CHECK(found.exists == std::isfinite(least));
  if (!found.exists) return;
  CHECK(found.cost == least);
  CHECK(tried_cost(network, found.choices) == least);
}

}  // namespace

TEST_CASE("elimination finds the least cost of all assignments", "[sharding]") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const CostNetwork network = RandomNetwork(seed).make(false);
    CAPTURE(seed);
    check(network, {});
    CHECK(cheapest(network).in_program == 0);
  }
}

TEST_CASE("the 0/1 program finds the least cost of what is not eliminated", "[sharding]") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const CostNetwork network = RandomNetwork(seed).make(false);
    check(network, {.most_entries = 0});
    check(network, {.most_entries = 20});
  }
}

TEST_CASE("a limit of weights is kept at the least cost", "[sharding]") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    check(RandomNetwork(seed).make(true), {});
  }
}

}  // namespace mase::sharding
