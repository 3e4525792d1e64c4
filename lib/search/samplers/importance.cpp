// SPDX-License-Identifier: Apache-2.0
// PED-ANOVA compares each parameter's distribution in the best trials with that in all trials.
#include "search/samplers/importance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/samplers/normal.hpp"

namespace mase::samplers {

namespace {

using Values = std::vector<double>;

constexpr std::size_t minimum_trials = 4;
constexpr double best_share = 0.1;
constexpr int most_cells = 50;
constexpr double floor_density = 1e-12;  ///< keeps the quotient of densities finite

/// The trials with a finite value of the objective, best first.
struct Split {
  std::vector<const Trial*> all;
  std::size_t best = 0;  ///< number of the best, including ties
};

Split split(const Problem& problem, std::span<const Trial> trials, std::size_t objective) {
  const double sign = problem.directions[objective] == Direction::maximize ? -1 : 1;
  const auto loss = [&](const Trial* trial) { return sign * trial->values[objective]; };
  Split result;
  for (const Trial& trial : trials)
    if (trial.state == TrialState::complete && objective < trial.values.size() &&
        std::isfinite(trial.values[objective]))
      result.all.push_back(&trial);
  if (result.all.size() < minimum_trials) return {};
  std::stable_sort(result.all.begin(), result.all.end(),
                   [&](const Trial* a, const Trial* b) { return loss(a) < loss(b); });
  const auto count =
      static_cast<std::size_t>(std::ceil(best_share * static_cast<double>(result.all.size())));
  result.best = std::max<std::size_t>(count, 2);
  const double limit = loss(result.all[result.best - 1]);
  while (result.best < result.all.size() && loss(result.all[result.best]) <= limit) ++result.best;
  return result;
}

/// A grid over the values of a dimension. Its cells are the choices, or equal parts of the range or
/// its logarithm.
class Grid {
 public:
  explicit Grid(const Distribution& distribution)
      : categorical_(std::holds_alternative<CategoricalDistribution>(distribution)) {
    const auto count = cardinality(distribution);
    cells_ = static_cast<int>(std::min<std::int64_t>(count.value_or(most_cells), most_cells));
    if (const auto* d = std::get_if<FloatDistribution>(&distribution)) set(d->low, d->high, d->log);
    if (const auto* d = std::get_if<IntDistribution>(&distribution)) {
      set(static_cast<double>(d->low), static_cast<double>(d->high), d->log);
      // Integers crowd at the upper end of a logarithmic axis, where a cell per doubling is enough.
      if (d->log) cells_ = std::min(cells_, 1 + static_cast<int>(std::ceil(std::log2(*count))));
    }
    if (categorical_) cells_ = static_cast<int>(*count);
  }

  bool is_categorical() const { return categorical_; }
  int cells() const { return cells_; }

  /// The number of values in each cell, by the nearest centre (the lower one of two equally near).
  Values counts(const Values& values) const {
    Values result(static_cast<std::size_t>(cells_), 0.0);
    for (const double value : values) result[static_cast<std::size_t>(cell(value))] += 1;
    return result;
  }

 private:
  void set(double low, double high, bool log) {
    log_ = log;
    low_ = log ? std::log(low) : low;
    high_ = log ? std::log(high) : high;
  }

  int cell(double value) const {
    if (categorical_) return static_cast<int>(value);
    const double width = (high_ - low_) / (cells_ - 1);
    const double place = ((log_ ? std::log(value) : value) - low_) / width;
    return std::clamp(static_cast<int>(std::ceil(place - 0.5)), 0, cells_ - 1);
  }

  bool categorical_, log_ = false;
  int cells_ = 0;
  double low_ = 0, high_ = 1;
};

/// Scott's bandwidth for counted cells, with the interquartile range as a guard against outliers.
/// Its lower bound is the width at which a kernel's own cell holds nine tenths of the kernel.
double bandwidth(const Values& counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    mean += counts[i] * static_cast<double>(i) / total;
  for (std::size_t i = 0; i < counts.size(); ++i)
    square += counts[i] * std::pow(static_cast<double>(i) - mean, 2);
  const double deviation = std::sqrt(square / std::max(1.0, total - 1));
  // The quartiles are observed cells: the first cells at which the count reaches them.
  double counted = 0, low = -1, high = 0;
  bool reached = false;
  for (std::size_t i = 0; i < counts.size() && !reached; ++i) {
    if (counts[i] == 0) continue;
    counted += counts[i];
    if (low < 0 && counted >= std::floor(total / 4)) low = static_cast<double>(i);
    high = static_cast<double>(i);
    reached = counted > std::floor(total * 3 / 4);
  }
  const double spread = std::min((high - low) / 1.34, deviation);
  return std::max(1.059 * spread * std::pow(total, -0.2), 0.5 / 1.64);
}

/// Adds a normal kernel with this weight, as probabilities of cells of width 1.
void add_kernel(double centre, double width, double weight, Values& density) {
  const auto at = [&](double cell) { return (cell - 0.5 - centre) / width; };
  const double whole = log_normal_mass(at(0), at(static_cast<double>(density.size())));
  for (std::size_t i = 0; i < density.size(); ++i) {
    const auto cell = static_cast<double>(i);
    density[i] += weight * std::exp(log_normal_mass(at(cell), at(cell + 1)) - whole);
  }
}

/// Parzen's estimate with a prior of weight 1. For a range, the prior is wide around the middle;
/// for choices, every kernel keeps a share for the other choices instead.
Values density(const Grid& grid, const Values& counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 1.0);
  Values result(counts.size(), 0.0);
  if (grid.is_categorical()) {
    const double kernels = 1 + static_cast<double>(counts.size()) -
                           static_cast<double>(std::count(counts.begin(), counts.end(), 0.0));
    const double choices = grid.cells(), rest = 1 / kernels;
    for (double& value : result) value = 1 / choices / total;
    for (std::size_t seen = 0; seen < counts.size(); ++seen)
      for (std::size_t i = 0; i < counts.size(); ++i)
        result[i] += counts[seen] / total * (rest + (i == seen)) / (1 + choices * rest);
    return result;
  }
  const double width = bandwidth(counts);
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) add_kernel(static_cast<double>(i), width, counts[i] / total, result);
  add_kernel((grid.cells() - 1) / 2.0, grid.cells(), 1 / total, result);
  return result;
}

/// sum of p_all (p_best / p_all - 1)^2.
double divergence(const Grid& grid, const Values& best, const Values& all) {
  const Values p = density(grid, grid.counts(best)), q = density(grid, grid.counts(all));
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double below = q[i] + floor_density;
    sum += below * std::pow((p[i] + floor_density) / below - 1, 2);
  }
  return sum;
}

/// The importance of a dimension. If only some trials have it, its weight is its squared share
/// among the best, divided by its share among all.
double importance_of(const Dimension& dimension, const Split& trials) {
  Values best, all;
  for (std::size_t i = 0; i < trials.all.size(); ++i) {
    const auto found = trials.all[i]->params.find(dimension.name);
    if (found == trials.all[i]->params.end() || !contains(dimension.distribution, found->second))
      continue;
    all.push_back(found->second);
    if (i < trials.best) best.push_back(found->second);
  }
  if (cardinality(dimension.distribution) == 1 || best.empty() || all.size() < 2) return 0;
  const double share_best = static_cast<double>(best.size()) / static_cast<double>(trials.best);
  const double share_all = static_cast<double>(all.size()) / static_cast<double>(trials.all.size());
  return share_best * share_best / share_all * divergence(Grid(dimension.distribution), best, all);
}

}  // namespace

std::map<std::string, double> importance(const Problem& problem, std::span<const Trial> trials,
                                         std::size_t objective) {
  const Split parts = split(problem, trials, objective);
  std::map<std::string, double> result;
  double total = 0;
  for (const Dimension& dimension : problem.space)
    total += result[dimension.name] = parts.all.empty() ? 0 : importance_of(dimension, parts);
  if (total > 0)
    for (auto& [name, value] : result) value /= total;
  return result;
}

}  // namespace mase::samplers
