// SPDX-License-Identifier: Apache-2.0
// Generations, tournaments, crossover and mutation of the genetic samplers.
#include "search/samplers/genetic.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "search/samplers/random.hpp"
#include "search/samplers/unit.hpp"

namespace mase::samplers {

namespace {

constexpr int attempts = 10;  ///< to make a new child inside the space

/// Selection draws random numbers from separate streams, far from the numbers of trials.
constexpr std::uint64_t selection_streams = std::uint64_t{1} << 63;

/// The trial's value in a dimension, if it has one that the space allows.
std::optional<double> gene(const Trial& trial, const Dimension& dimension) {
  const auto found = trial.params.find(dimension.name);
  if (found == trial.params.end() || !contains(dimension.distribution, found->second))
    return std::nullopt;
  return found->second;
}

bool is_numeric(const Dimension& dimension) {
  return !std::holds_alternative<CategoricalDistribution>(dimension.distribution);
}

bool is_open(const Dimension& dimension) { return cardinality(dimension.distribution) != 1; }

double draw(const Dimension& dimension, Random& random) {
  return value_at_share(dimension.distribution, random.uniform());
}

bool wins(const Parent& a, const Parent& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.spread > b.spread;
}

bool is_repetition(const Params& params, std::span<const Trial> history) {
  return std::any_of(history.begin(), history.end(), [&](const Trial& trial) {
    return trial.state != TrialState::fail && trial.params == params;
  });
}

}  // namespace

GeneticSampler::GeneticSampler(const Problem& problem, const GeneticOptions& options,
                               std::string name)
    : problem_(problem),
      options_(options),
      attribute_(std::move(name) + ":generation"),
      crossover_(find_crossover(options.crossover)) {
  if (crossover_ && static_cast<std::size_t>(options.population_size) < crossover_->parents)
    config_error("crossover '" + options.crossover + "' takes " +
                 std::to_string(crossover_->parents) +
                 " parents, so population_size must be at least that");
}

Suggestion GeneticSampler::suggest(const History& known, std::int64_t number) {
  const std::span<const Trial> history = known.trials;
  const Members members = members_of(history, number);
  forget_changed(members);
  const std::size_t generation =
      members.size() / static_cast<std::size_t>(options_.population_size);
  const std::vector<Parent>& parents = parents_of(generation, members);
  Random random(problem_.seed, static_cast<std::uint64_t>(number));
  const auto propose = [&] {
    return parents.empty() ? random_params(problem_.space, random)
                           : crossed(parents, members, random);
  };
  Suggestion suggestion{propose()};
  for (int i = 1; i < attempts && is_repetition(suggestion.params, history); ++i)
    suggestion.params = propose();
  suggestion.attributes[attribute_] = generation;
  return suggestion;
}

GeneticSampler::Members GeneticSampler::members_of(std::span<const Trial> history,
                                                   std::int64_t number) const {
  Members members;
  for (const Trial& trial : history)
    if (trial.state == TrialState::complete && trial.number != number &&
        trial.values.size() == problem_.directions.size() &&
        (problem_.space.empty() || gene(trial, problem_.space.front())))
      members.push_back(&trial);
  return members;
}

void GeneticSampler::forget_changed(const Members& members) {
  const auto first = std::mismatch(seen_.begin(), seen_.end(), members.begin(), members.end(),
                                   [](const Seen& seen, const Trial* trial) {
                                     return seen.number == trial->number &&
                                            seen.values == trial->values &&
                                            seen.violation == trial->violation;
                                   });
  seen_.erase(first.first, seen_.end());
  // Generation g depends on the first g * P members.
  const std::size_t valid = seen_.size() / static_cast<std::size_t>(options_.population_size) + 1;
  if (parents_.size() > valid) parents_.resize(valid);
  for (std::size_t i = seen_.size(); i < members.size(); ++i)
    seen_.push_back({members[i]->number, members[i]->values, members[i]->violation});
}

const std::vector<Parent>& GeneticSampler::parents_of(std::size_t generation,
                                                      const Members& members) {
  if (parents_.empty()) parents_.emplace_back();
  while (parents_.size() <= generation) parents_.push_back(next_parents(parents_.size(), members));
  return parents_[generation];
}

std::vector<Parent> GeneticSampler::next_parents(std::size_t generation,
                                                 const Members& members) const {
  const auto size = static_cast<std::size_t>(options_.population_size);
  std::vector<std::size_t> pool;  // places in members
  for (const Parent& parent : parents_[generation - 1]) pool.push_back(parent.place);
  for (std::size_t i = (generation - 1) * size; i < generation * size; ++i) pool.push_back(i);
  std::vector<Point> points;
  std::vector<double> violations;
  for (const std::size_t place : pool) {
    points.push_back(point_of(*members[place], problem_.directions));
    violations.push_back(members[place]->violation);
  }
  Random random(problem_.seed, selection_streams + generation);
  std::vector<Parent> chosen = select(points, violations, size, random);
  for (Parent& parent : chosen) parent.place = pool[parent.place];
  return chosen;
}

/// Chooses as many different parents as the crossover takes, each the winner of two random ones.
std::vector<const Trial*> GeneticSampler::mates(const std::vector<Parent>& parents,
                                                const Members& members, Random& random) const {
  std::vector<Parent> left = parents;
  std::vector<const Trial*> chosen;
  for (std::size_t i = 0; i < (crossover_ ? crossover_->parents : 2); ++i) {
    const std::size_t a = random.below(left.size()), b = random.below(left.size());
    const std::size_t winner = wins(left[a], left[b]) ? a : b;
    chosen.push_back(members[left[winner].place]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(winner));
  }
  return chosen;
}

/// Crosses the numeric dimensions that all mates have as one vector. A vector outside the unit cube
/// is drawn again and, after the last attempt, clipped.
Params GeneticSampler::mix_numbers(const std::vector<const Trial*>& mates, Random& random) const {
  std::vector<const Dimension*> dimensions;
  std::vector<std::vector<double>> vectors(mates.size());
  for (const Dimension& dimension : problem_.space)
    if (is_numeric(dimension) && is_open(dimension) &&
        std::all_of(mates.begin(), mates.end(),
                    [&](const Trial* mate) { return gene(*mate, dimension).has_value(); })) {
      dimensions.push_back(&dimension);
      for (std::size_t i = 0; i < mates.size(); ++i)
        vectors[i].push_back(share_of(dimension.distribution, *gene(*mates[i], dimension)));
    }
  if (dimensions.empty()) return {};
  const double eta = problem_.directions.size() > 1 ? 20 : 2;
  std::vector<double> shares;
  for (int i = 0; i < attempts; ++i) {
    shares = crossover_->cross(vectors, eta, random);
    if (std::all_of(shares.begin(), shares.end(), [](double s) { return 0 <= s && s <= 1; })) break;
  }
  Params params;
  for (std::size_t i = 0; i < shares.size(); ++i)
    params[dimensions[i]->name] =
        value_at_share(dimensions[i]->distribution, std::clamp(shares[i], 0.0, 1.0));
  return params;
}

/// Crosses the mates (or copies a single one), then mutates by resampling.
Params GeneticSampler::child(const std::vector<const Trial*>& mates, Random& random) const {
  const Params mixed = crossover_ && mates.size() > 1 ? mix_numbers(mates, random) : Params{};
  const auto genes =
      std::count_if(problem_.space.begin(), problem_.space.end(), [&](const Dimension& dimension) {
        return is_open(dimension) && mates[0]->params.contains(dimension.name);
      });
  const double mutation = options_.mutation_prob.value_or(
      1.0 / static_cast<double>(std::max<std::ptrdiff_t>(genes, 1)));
  Params params;
  for (const Dimension& dimension : problem_.space) {
    if (!is_active(dimension, params)) continue;
    const bool swap = mates.size() > 1 && random.uniform() < options_.swapping_prob;
    const Trial& first = swap ? *mates.back() : *mates.front();
    const Trial& second = swap ? *mates.front() : *mates.back();
    std::optional<double> value;
    if (const auto found = mixed.find(dimension.name); found != mixed.end()) value = found->second;
    if (!value) value = gene(first, dimension);
    if (!value) value = gene(second, dimension);
    if (!value || random.uniform() < mutation) value = draw(dimension, random);
    params[dimension.name] = *value;
  }
  return params;
}

Params GeneticSampler::crossed(const std::vector<Parent>& parents, const Members& members,
                               Random& random) const {
  if (random.uniform() < options_.crossover_prob)
    return child(mates(parents, members, random), random);
  return child({members[parents[random.below(parents.size())].place]}, random);
}

}  // namespace mase::samplers
