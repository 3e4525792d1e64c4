// SPDX-License-Identifier: Apache-2.0
// Sensitivities, budgets and the sets that come out.
#include "search/workers/allocation.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "search/samplers/allocate.hpp"

namespace mase::search {
namespace {

using samplers::Params;

/// Sensitivity costs one evaluation per configuration of a layer.
constexpr std::int64_t most_per_layer = 1000;

/// The loss of a model as it is, not after training.
bool gives_loss(const RunnerRow& row) { return row.delivers("loss") && !row.trains(); }

void check_loss(const Runners& runners) {
  const std::vector<const RunnerRow*> given = given_rows(runners);
  if (std::any_of(given.begin(), given.end(), [](const auto* row) { return gives_loss(*row); }))
    return;
  const auto& table = runner_table();
  config_error("allocate measures the loss of every layer: it needs " +
               std::find_if(table.begin(), table.end(), gives_loss)->table());
}

std::string cost_metric(const Options& options) {
  std::vector<std::string> found;
  for (const Goal& goal : options.goals)
    if (const MetricRow* row = find_metric(goal.metric); row && !row->software)
      found.push_back(goal.metric);
  if (found.size() != 1)
    config_error(
        "allocate weighs the loss against one metric of the hardware runners; the search "
        "has " +
        std::to_string(found.size()) + " of them, name one such as average_bitwidth");
  check_loss(options.runners);
  return found.front();
}

/// The dimensions of one layer as a space of their own.
samplers::Space layer_space(const SearchSpace& space, const SearchSpace::Layer& layer) {
  samplers::Space out;
  for (const std::size_t index : layer.dimensions) out.push_back(space.dimensions()[index]);
  return out;
}

std::vector<Params> layer_choices(const samplers::Space& space, const std::string& layer) {
  const auto count = samplers::configurations(space);
  if (!count || *count > most_per_layer)
    config_error("allocate goes through the configurations of every layer; layer '" + layer +
                 "' has more than " + std::to_string(most_per_layer) +
                 ", give it fewer choices or use another sampler");
  std::vector<Params> out;
  for (std::int64_t i = 0; i < *count; ++i) out.push_back(samplers::configuration_at(space, i));
  return out;
}

struct Table {
  std::vector<std::vector<Params>> choices;
  samplers::Allocation problem;  ///< one budget, its bound still open
};

Table measure_layers(const Options& options, const SearchSpace& space,
                     const std::function<Measured(const Params&)>& measure) {
  const std::string metric = cost_metric(options);
  const Measured nothing = measure({});
  Table table;
  table.problem.budgets.emplace_back();
  for (const SearchSpace::Layer& layer : space.layers()) {
    table.choices.push_back(layer_choices(layer_space(space, layer), layer.name));
    std::vector<double> loss, cost;
    for (const Params& params : table.choices.back()) {
      const Measured alone = measure(params);
      loss.push_back(alone.value("loss") - nothing.value("loss"));
      cost.push_back(alone.value(metric) - nothing.value(metric));
    }
    table.problem.loss.push_back(std::move(loss));
    table.problem.budgets.front().cost.push_back(std::move(cost));
  }
  return table;
}

Tree external(const samplers::Space& space, const Table& table,
              const std::vector<std::size_t>& chosen) {
  Params params;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (const auto& [name, value] : table.choices[i][chosen[i]]) params[name] = value;
  Tree tree = Tree::dict();
  for (const samplers::Dimension& dimension : space)
    if (const auto found = params.find(dimension.name); found != params.end())
      tree[dimension.name] = samplers::external_value(dimension.distribution, found->second);
  return tree;
}

/// The least and the largest sum of one choice per layer.
std::pair<double, double> range_of(const std::vector<std::vector<double>>& cost) {
  double low = 0, high = 0;
  for (const std::vector<double>& layer : cost) {
    const auto [least, most] = std::minmax_element(layer.begin(), layer.end());
    low += *least;
    high += *most;
  }
  return {low, high};
}

}  // namespace

std::vector<Tree> allocations(const Options& options, const SearchSpace& space, std::size_t count,
                              const std::function<Measured(const Params&)>& measure) {
  Table table = measure_layers(options, space, measure);
  samplers::Allocation::Budget& budget = table.problem.budgets.front();
  const auto [low, high] = range_of(budget.cost);
  std::vector<Tree> sets;
  std::set<std::vector<std::size_t>> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count > 1 ? double(i) / double(count - 1) : 1.0;
    // Sums in another order may differ in the last bits.
    budget.bound = low + share * (high - low) + 1e-9 * (1 + std::abs(high));
    const auto chosen = samplers::allocate(table.problem);
    if (chosen && seen.insert(*chosen).second)
      sets.push_back(external(space.dimensions(), table, *chosen));
  }
  return sets;
}

}  // namespace mase::search
