// SPDX-License-Identifier: Apache-2.0
// The cheapest assignment of random networks is that of trying all assignments, whether variables
// are eliminated or the 0/1 program decides.
#include "sharding/cost_network.hpp"

#include <algorithm>
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

constexpr std::size_t hubs = 4, hub_choices = 12, links = 5, link_choices = 16;

/// A chain whose links all depend on the same hubs too, as the blocks of a decoder do on its
/// angles.
CostNetwork chain_around_hubs() {
  std::mt19937 random(1);
  CostNetwork network;
  const auto costs = [&](std::size_t count) {
    std::vector<double> all(count);
    for (double& cost : all) cost = double(random() % 1000);
    return all;
  };
  for (std::size_t v = 0; v < hubs + links; ++v)
    network.variables.push_back({costs(v < hubs ? hub_choices : link_choices), {}});
  for (std::size_t link = hubs; link < hubs + links; ++link) {
    for (std::size_t hub = 0; hub < hubs; ++hub)
      network.pairs.push_back({hub, link, costs(hub_choices * link_choices)});
    if (link > hubs) network.pairs.push_back({link - 1, link, costs(link_choices * link_choices)});
  }
  return network;
}

/// The least cost of the chain for these choices of the hubs, link by link.
double least_of_chain(const CostNetwork& network, const std::vector<std::size_t>& at_hubs) {
  double least = 0;
  for (std::size_t hub = 0; hub < hubs; ++hub) least += network.variables[hub].costs[at_hubs[hub]];
  std::vector<double> before(link_choices, least);
  auto pair = network.pairs.begin();
  for (std::size_t link = 0; link < links; ++link) {
    std::vector<double> after = network.variables[hubs + link].costs;
    for (std::size_t hub = 0; hub < hubs; ++hub, ++pair)
      for (std::size_t to = 0; to < link_choices; ++to)
        after[to] += pair->costs[at_hubs[hub] * link_choices + to];
    for (std::size_t to = 0; to < link_choices; ++to) {
      double best = link == 0 ? least : infinity;
      for (std::size_t from = 0; link > 0 && from < link_choices; ++from)
        best = std::min(best, before[from] + pair->costs[from * link_choices + to]);
      after[to] += best;
    }
    if (link > 0) ++pair;
    before = std::move(after);
  }
  return *std::ranges::min_element(before);
}

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

TEST_CASE("a chain around hubs is eliminated without the 0/1 program", "[sharding]") {
  const CostNetwork network = chain_around_hubs();
  double least = infinity;
  std::vector<std::size_t> at_hubs(hubs, 0);
  for (std::size_t hub = 0; hub < hubs;) {
    least = std::min(least, least_of_chain(network, at_hubs));
    for (hub = 0; hub < hubs && ++at_hubs[hub] == hub_choices; ++hub) at_hubs[hub] = 0;
  }
  const Assignment found = cheapest(network);
  CHECK(found.in_program == 0);
  CHECK(found.cost == least);
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
