// SPDX-License-Identifier: Apache-2.0
// Measures sensitivities, chooses budgets and finds the parameter sets.
#include "search/workers/allocation.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "search/samplers/allocate.hpp"

namespace mase::search {
namespace {

using samplers::Params;

/// The sensitivity of a layer costs one evaluation per configuration.
constexpr std::int64_t most_per_layer = 1000;

/// Whether a runner measures the loss of the model without training it.
bool gives_loss(const RunnerRow& row) { return row.delivers("loss") && !row.trains(); }

void check_loss(const Runners& runners) {
  const std::vector<const RunnerRow*> given = given_rows(runners);
  if (std::any_of(given.begin(), given.end(), [](const auto* row) { return gives_loss(*row); }))
    return;
  const auto& table = runner_table();
  config_error("allocate measures the loss of every layer, so it needs " +
               std::find_if(table.begin(), table.end(), gives_loss)->table());
}

std::string cost_metric(const Options& options) {
  std::vector<std::string> found;
  for (const Goal& goal : options.goals)
    if (options.own.is_hardware(goal.metric)) found.push_back(goal.metric);
  if (found.size() != 1)
    config_error(
        "allocate weighs the loss against one metric of the hardware runners; the search "
        "has " +
        std::to_string(found.size()) + " of them; name one, such as average_bitwidth");
  check_loss(options.runners);
  return found.front();
}

/// The dimensions of one layer as a separate space.
samplers::Space layer_space(const SearchSpace& space, const SearchSpace::Layer& layer) {
  samplers::Space out;
  for (const std::size_t index : layer.dimensions) out.push_back(space.dimensions()[index]);
  return out;
}

std::vector<Params> layer_choices(const samplers::Space& space, const std::string& layer) {
  const auto count = samplers::configurations(space);
  if (!count || *count > most_per_layer)
    config_error("allocate tries all configurations of each layer, but layer '" + layer +
                 "' has more than " + std::to_string(most_per_layer) +
                 "; give it fewer choices, or use another sampler");
  std::vector<Params> out;
  for (std::int64_t i = 0; i < *count; ++i) out.push_back(samplers::configuration_at(space, i));
  return out;
}

/// All configurations of all layers, for each layer separately.
struct LayerChoices {
  std::vector<std::string> names;            ///< of the layers
  std::vector<std::vector<Params>> choices;  ///< by layer
};

LayerChoices all_choices(const SearchSpace& space) {
  LayerChoices out;
  for (const SearchSpace::Layer& layer : space.layers()) {
    out.names.push_back(layer.name);
    out.choices.push_back(layer_choices(layer_space(space, layer), layer.name));
  }
  return out;
}

/// A space of single changes: the unchanged model, then each layer in each of its configurations.
class OneLayer : public SearchSpace {
 public:
  OneLayer(const SearchSpace& space, const LayerChoices& layers) : space_(space) {
    configurations_.emplace_back();
    for (const std::vector<Params>& choices : layers.choices)
      configurations_.insert(configurations_.end(), choices.begin(), choices.end());
    dimensions_.push_back(
        {name, samplers::IntDistribution{0, count() - 1, 1, false}, std::nullopt});
  }
  std::int64_t count() const { return static_cast<std::int64_t>(configurations_.size()); }
  const Params& configuration(const Params& params) const {
    return configurations_.at(static_cast<std::size_t>(params.at(name)));
  }
  std::vector<passes::PassCall> calls(const Params& params) const override {
    return space_.calls(configuration(params));
  }
  Tree sampled_config(const Params& params) const override {
    return space_.sampled_config(configuration(params));
  }

  static constexpr const char* name = "configuration";

 private:
  const SearchSpace& space_;
  std::vector<Params> configurations_;
};

/// The plan of the study of sensitivities, which is in the same database as that of `plan`.
Plan sensitivity_plan(const Plan& plan, const OneLayer& space) {
  Plan out = plan;
  out.space = &space;
  out.study = plan.study + ":sensitivity";
  out.configuration["part"] = "sensitivity";
  out.options.goals = {{"loss", 1.0, Direction::minimize}};
  out.options.constraints.clear();
  out.options.sampler_options = Tree::dict();
  Setup& setup = out.options.setup;
  setup.sampler = "grid";
  setup.enqueue = setup.pruner = Setup::none;
  setup.sum_scaled_metrics = false;
  setup.n_trials = static_cast<int>(space.count());
  out.enqueue = nullptr;
  out.evaluate = [&plan, &space](const Params& params, const Report& report) {
    return plan.evaluate(space.configuration(params), report);
  };
  return out;
}

/// The loss and cost of a configuration; infinite if it cannot be measured.
struct Weight {
  double loss = HUGE_VAL, cost = HUGE_VAL;
};

double metric_in(const storage::Record& record, const char* part, const std::string& metric) {
  const Tree* metrics = record.user.find(part);
  const Tree* value = metrics ? metrics->find(metric) : nullptr;
  return value && value->is_number() ? value->as_double() : HUGE_VAL;
}

/// The weights by configuration; nothing for configurations without a result.
std::vector<std::optional<Weight>> read_weights(const Plan& plan, std::int64_t count,
                                                const std::string& cost) {
  std::vector<std::optional<Weight>> weights(static_cast<std::size_t>(count));
  const auto storage = plan.open();
  for (const storage::Record& record : storage->trials(open_study(*storage, plan))) {
    const auto found = record.trial.params.find(OneLayer::name);
    if (found == record.trial.params.end()) continue;
    std::optional<Weight>& weight = weights.at(static_cast<std::size_t>(found->second));
    if (record.trial.state == samplers::TrialState::complete)
      weight = {metric_in(record, "software_metrics", "loss"),
                metric_in(record, "hardware_metrics", cost)};
    else if (record.trial.state == samplers::TrialState::fail && !weight)
      weight.emplace();
  }
  return weights;
}

/// Runs the measurements that are missing. Returns nothing if it was stopped before the end.
std::optional<std::vector<Weight>> measure_layers(const Plan& plan, const OneLayer& space,
                                                  const std::string& cost,
                                                  const OnMeasured& on_measured,
                                                  const std::atomic<bool>& stop) {
  const Plan own = sensitivity_plan(plan, space);
  const auto tell = [&](const storage::Record& record) {
    if (on_measured) on_measured(record.trial.number + 1, space.count());
  };
  run_workers(own, tell, stop);
  std::vector<Weight> out;
  for (const std::optional<Weight>& weight : read_weights(own, space.count(), cost)) {
    if (!weight) return std::nullopt;
    out.push_back(*weight);
  }
  if (out.front().loss == HUGE_VAL)
    throw Error(Fault::goal, "allocate: the unchanged model cannot be measured; study '" +
                                 own.study + "' has the reason");
  return out;
}

/// What each choice adds to the unchanged model, whose weight comes first; without a budget.
samplers::Allocation problem_of(const LayerChoices& layers, const std::vector<Weight>& weights) {
  samplers::Allocation problem;
  problem.budgets.emplace_back();
  auto weight = weights.begin() + 1;
  for (const std::vector<Params>& choices : layers.choices) {
    std::vector<double> loss, cost;
    for (std::size_t i = 0; i < choices.size(); ++i, ++weight) {
      loss.push_back(weight->loss - weights.front().loss);
      cost.push_back(weight->cost - weights.front().cost);
    }
    problem.loss.push_back(std::move(loss));
    problem.budgets.front().cost.push_back(std::move(cost));
  }
  return problem;
}

Tree external(const samplers::Space& space, const LayerChoices& layers,
              const std::vector<std::size_t>& chosen) {
  Params params;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (const auto& [name, value] : layers.choices[i][chosen[i]]) params[name] = value;
  Tree tree = Tree::dict();
  for (const samplers::Dimension& dimension : space)
    if (const auto found = params.find(dimension.name); found != params.end())
      tree[dimension.name] = samplers::external_value(dimension.distribution, found->second);
  return tree;
}

/// A row per choice: layer, parameters, added loss and added cost.
Tree sensitivity_tree(const SearchSpace& space, const LayerChoices& layers,
                      const samplers::Allocation& problem) {
  Tree rows = Tree::list();
  for (std::size_t i = 0; i < layers.names.size(); ++i)
    for (std::size_t j = 0; j < layers.choices[i].size(); ++j) {
      Tree row = Tree::dict();
      row["layer"] = layers.names[i];
      Tree& parameters = row["parameters"] = Tree::dict();
      for (const auto& dimension : space.dimensions())
        if (const auto found = layers.choices[i][j].find(dimension.name);
            found != layers.choices[i][j].end())
          parameters[dimension.name] =
              samplers::external_value(dimension.distribution, found->second);
      row["loss"] = problem.loss[i][j];
      row["cost"] = problem.budgets.front().cost[i][j];
      rows.push_back(std::move(row));
    }
  return rows;
}

/// The smallest and the largest sum of costs over one measurable choice per layer.
std::pair<double, double> range_of(const std::vector<std::vector<double>>& cost) {
  double low = 0, high = 0;
  for (std::vector<double> layer : cost) {
    std::erase_if(layer, [](double value) { return !std::isfinite(value); });
    if (layer.empty()) continue;
    const auto [least, most] = std::minmax_element(layer.begin(), layer.end());
    low += *least;
    high += *most;
  }
  return {low, high};
}

/// The best mixes for `count` budgets, without repetitions.
std::vector<Tree> best_mixes(samplers::Allocation problem, const SearchSpace& space,
                             const LayerChoices& layers, std::size_t count) {
  samplers::Allocation::Budget& budget = problem.budgets.front();
  const auto [low, high] = range_of(budget.cost);
  std::vector<Tree> sets;
  std::set<std::vector<std::size_t>> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count > 1 ? double(i) / double(count - 1) : 1.0;
    // Sums in a different order may differ in the last bits.
    budget.bound = low + share * (high - low) + 1e-9 * (1 + std::abs(high));
    const auto chosen = samplers::allocate(problem);
    if (chosen && seen.insert(*chosen).second)
      sets.push_back(external(space.dimensions(), layers, *chosen));
  }
  return sets;
}

}  // namespace

void check_allocation(const Options& options, const SearchSpace& space) {
  cost_metric(options);
  if (const std::string reason = space.not_additive(); !reason.empty())
    config_error("allocate adds up the costs of the layers' choices, but " + reason +
                 "; use another sampler, such as tpe");
}

std::optional<Allocations> allocations(const Plan& plan, std::size_t count,
                                       const OnMeasured& on_measured,
                                       const std::atomic<bool>& stop) {
  check_allocation(plan.options, *plan.space);
  const std::string metric = cost_metric(plan.options);
  const LayerChoices layers = all_choices(*plan.space);
  const OneLayer space(*plan.space, layers);
  const auto weights = measure_layers(plan, space, metric, on_measured, stop);
  if (!weights) return std::nullopt;
  const samplers::Allocation problem = problem_of(layers, *weights);
  return Allocations{best_mixes(problem, *plan.space, layers, count), metric,
                     sensitivity_tree(*plan.space, layers, problem)};
}

}  // namespace mase::search
