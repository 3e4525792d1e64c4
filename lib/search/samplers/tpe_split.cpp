// SPDX-License-Identifier: Apache-2.0
// The order in which trials count as good.
#include "search/samplers/tpe_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mase::samplers {
namespace {

using Trials = std::vector<const Trial*>;

/// What is no number counts as the worst.
double number_or_worst(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

/// Finished trials by what decides about them.
struct Kinds {
  Trials complete, pruned, infeasible, running;
};

Kinds sort_out(std::span<const Trial* const> history) {
  Kinds kinds;
  for (const Trial* trial : history) {
    const bool finished =
        trial->state == TrialState::complete || trial->state == TrialState::pruned;
    if (trial->state == TrialState::running)
      kinds.running.push_back(trial);
    else if (finished && !(trial->violation <= 0))
      kinds.infeasible.push_back(trial);
    else if (finished)
      (trial->state == TrialState::complete ? kinds.complete : kinds.pruned).push_back(trial);
  }
  return kinds;
}

template <class Key>
void sort_by(Trials& trials, Key key) {
  std::stable_sort(trials.begin(), trials.end(),
                   [&](const Trial* a, const Trial* b) { return key(*a) < key(*b); });
}

/// The pruned trial that came furthest first, then the better last value; those without any report
/// last.
std::pair<double, double> pruned_key(const Trial& trial, Direction direction) {
  if (trial.intermediate.empty()) return {1, 0};
  const auto [step, value] = *trial.intermediate.rbegin();
  return {-static_cast<double>(step),
          number_or_worst(direction == Direction::minimize ? value : -value)};
}

/// A point worse than all, by a tenth of the worst value of each objective.
Point reference_of(std::span<const Point> points) {
  Point reference = points.front();
  for (const Point& point : points)
    for (std::size_t j = 0; j < point.size(); ++j) reference[j] = std::max(reference[j], point[j]);
  for (double& worst : reference) {
    worst = std::max(1.1 * worst, 0.9 * worst);
    if (worst == 0) worst = 1e-12;
  }
  return reference;
}

/// Whole ranks while they fit into `count`, then a subset of the next rank. The chosen trials come
/// first.
void order_by_rank(Trials& trials, const std::vector<Direction>& directions, std::size_t count) {
  if (count == 0 || count >= trials.size()) return;
  std::vector<Point> points;
  for (const Trial* trial : trials) points.push_back(point_of(*trial, directions));
  const std::vector<int> rank = ranks(points);
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
  const int last_rank = rank[order[count - 1]];
  const auto first =
      std::find_if(order.begin(), order.end(), [&](std::size_t i) { return rank[i] == last_rank; });
  const auto last =
      std::find_if(first, order.end(), [&](std::size_t i) { return rank[i] != last_rank; });
  const std::vector<std::size_t> members(first, last);
  std::vector<Point> front;
  for (std::size_t i : members) front.push_back(points[i]);
  const std::size_t wanted = count - static_cast<std::size_t>(first - order.begin());
  std::vector<bool> chosen(trials.size(), false);
  for (std::size_t i : hypervolume_subset(front, wanted, reference_of(front)))
    chosen[members[i]] = true;
  std::stable_partition(first, last, [&](std::size_t i) { return chosen[i]; });
  Trials sorted;
  for (std::size_t i : order) sorted.push_back(trials[i]);
  trials = std::move(sorted);
}

void order_complete(Trials& trials, const std::vector<Direction>& directions, std::size_t count) {
  if (directions.size() > 1) return order_by_rank(trials, directions, count);
  const double sign = directions.front() == Direction::minimize ? 1 : -1;
  sort_by(trials, [&](const Trial& trial) { return number_or_worst(sign * trial.values.front()); });
}

std::size_t good_count(std::size_t finished, std::size_t objectives) {
  const auto tenth = static_cast<std::size_t>(std::ceil(0.1 * static_cast<double>(finished)));
  return objectives > 1 ? tenth : std::min<std::size_t>(tenth, 25);
}

}  // namespace

Split split_history(std::span<const Trial* const> history,
                    const std::vector<Direction>& directions) {
  Kinds kinds = sort_out(history);
  const std::size_t finished =
      kinds.complete.size() + kinds.pruned.size() + kinds.infeasible.size();
  const std::size_t good = good_count(finished, directions.size());
  order_complete(kinds.complete, directions, good);
  sort_by(kinds.pruned, [&](const Trial& trial) { return pruned_key(trial, directions.front()); });
  sort_by(kinds.infeasible, [](const Trial& trial) { return number_or_worst(trial.violation); });

  Trials all;
  for (const Trials* part : {&kinds.complete, &kinds.pruned, &kinds.infeasible, &kinds.running})
    all.insert(all.end(), part->begin(), part->end());
  const auto border = all.begin() + static_cast<std::ptrdiff_t>(good);
  Split split{{all.begin(), border}, {border, all.end()}};
  for (Trials* part : {&split.below, &split.above})
    sort_by(*part, [](const Trial& trial) { return trial.number; });
  return split;
}

}  // namespace mase::samplers
