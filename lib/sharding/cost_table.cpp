// SPDX-License-Identifier: Apache-2.0
// Walks through all choices of a variable and its neighbours with one place per table.
#include "sharding/cost_table.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace mase::sharding {
namespace {

/// A table that is read while choices count up: how far each variable of the walk moves its place.
struct TableWalk {
  const CostTable* table;
  std::vector<std::size_t> strides;  ///< one per neighbour
  std::size_t own = 0;               ///< of the variable to be eliminated
  std::size_t place = 0;
};

TableWalk walk_through(const CostTable& table, const std::vector<std::size_t>& neighbours,
                       std::size_t variable, const ChoiceCounts& counts) {
  TableWalk walk{&table, std::vector<std::size_t>(neighbours.size(), 0)};
  std::size_t stride = 1;
  for (std::size_t i = table.variables.size(); i-- > 0;) {
    const std::size_t at = table.variables[i];
    const auto found = std::ranges::find(neighbours, at);
    if (at == variable) walk.own = stride;
    if (found != neighbours.end())
      walk.strides[static_cast<std::size_t>(found - neighbours.begin())] = stride;
    stride *= counts[at];
  }
  return walk;
}

/// The next choices of the neighbours, with the places of all tables; false after the last ones.
bool step(std::vector<std::size_t>& choices, const std::vector<std::size_t>& neighbours,
          const ChoiceCounts& counts, std::vector<TableWalk>& walks) {
  for (std::size_t i = choices.size(); i-- > 0;) {
    for (TableWalk& walk : walks) walk.place += walk.strides[i];
    if (++choices[i] < counts[neighbours[i]]) return true;
    for (TableWalk& walk : walks) walk.place -= walk.strides[i] * choices[i];
    choices[i] = 0;
  }
  return false;
}

}  // namespace

CostTable eliminate(std::size_t variable, const std::vector<const CostTable*>& tables,
                    const ChoiceCounts& counts, Eliminated& result) {
  std::set<std::size_t> around;
  for (const CostTable* table : tables)
    around.insert(table->variables.begin(), table->variables.end());
  around.erase(variable);
  result.variable = variable;
  result.neighbours.assign(around.begin(), around.end());
  std::vector<TableWalk> walks;
  for (const CostTable* table : tables)
    walks.push_back(walk_through(*table, result.neighbours, variable, counts));
  CostTable rest{result.neighbours, {}};
  std::vector<std::size_t> choices(result.neighbours.size(), 0);
  do {
    double least = std::numeric_limits<double>::infinity();
    std::uint32_t best = 0;
    for (std::size_t choice = 0; choice < counts[variable]; ++choice) {
      double cost = 0;
      for (const TableWalk& walk : walks) cost += walk.table->costs[walk.place + walk.own * choice];
      if (cost < least) {
        least = cost;
        best = static_cast<std::uint32_t>(choice);
      }
    }
    rest.costs.push_back(least);
    result.best.push_back(best);
  } while (step(choices, result.neighbours, counts, walks));
  return rest;
}

std::size_t place_of(const std::vector<std::size_t>& variables, const ChoiceCounts& counts,
                     const std::vector<std::size_t>& choices) {
  std::size_t place = 0;
  for (const std::size_t variable : variables) place = place * counts[variable] + choices[variable];
  return place;
}

}  // namespace mase::sharding
