// SPDX-License-Identifier: Apache-2.0
// Orders trials by how good they are.
#include "search/samplers/tpe_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace mase::samplers {
namespace {

using Trials = std::vector<const Trial*>;

/// NaN counts as the worst value.
double number_or_worst(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

bool is_finished(const Trial* trial) {
  return trial->state == TrialState::complete || trial->state == TrialState::pruned;
}

/// The kinds of finished trials.
enum class Kind { complete, pruned, infeasible };
Kind kind_of(const Trial& trial) {
  if (!(trial.violation <= 0)) return Kind::infeasible;
  return trial.state == TrialState::complete ? Kind::complete : Kind::pruned;
}

double complete_key(const Trial& trial, Direction direction) {
  const double sign = direction == Direction::minimize ? 1 : -1;
  return number_or_worst(sign * trial.values.front());
}

double infeasible_key(const Trial& trial) { return number_or_worst(trial.violation); }

/// Finished trials by kind.
struct Kinds {
  Trials complete, pruned, infeasible, running;
};

Kinds sort_out(std::span<const Trial* const> history) {
  Kinds kinds;
  for (const Trial* trial : history) {
    if (trial->state == TrialState::running) kinds.running.push_back(trial);
    if (!is_finished(trial)) continue;
    const Kind kind = kind_of(*trial);
    (kind == Kind::complete ? kinds.complete
     : kind == Kind::pruned ? kinds.pruned
                            : kinds.infeasible)
        .push_back(trial);
  }
  return kinds;
}

/// Moves the `count` trials with the smallest keys to the front (stable); the others keep their
/// order. The time is linear in the number of trials if `count` is small.
template <class Key>
void bring_first(Trials& trials, std::size_t count, Key key) {
  if (count == 0 || count >= trials.size()) return;
  using Entry = std::pair<decltype(key(*trials.front())), std::size_t>;
  std::vector<Entry> entries;
  entries.reserve(trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) entries.emplace_back(key(*trials[i]), i);
  const auto border = entries.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(entries.begin(), border, entries.end());
  std::vector<bool> chosen(trials.size(), false);
  std::for_each(entries.begin(), border, [&](const Entry& entry) { chosen[entry.second] = true; });
  const Trials before = trials;
  auto next = trials.begin();
  for (const bool wanted : {true, false})
    for (std::size_t i = 0; i < before.size(); ++i)
      if (chosen[i] == wanted) *next++ = before[i];
}

void sort_by_number(Trials& trials) {
  const auto less = [](const Trial* a, const Trial* b) { return a->number < b->number; };
  if (!std::is_sorted(trials.begin(), trials.end(), less))
    std::stable_sort(trials.begin(), trials.end(), less);
}

/// The sort key of a pruned trial: the latest step first, then the better last value. Trials
/// without a report come last.
std::pair<double, double> pruned_key(const Trial& trial, Direction direction) {
  if (trial.intermediate.empty()) return {1, 0};
  const auto [step, value] = *trial.intermediate.rbegin();
  return {-static_cast<double>(step),
          number_or_worst(direction == Direction::minimize ? value : -value)};
}

/// A point worse than all others by a tenth of the worst value of each objective.
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

/// Chooses whole ranks as long as they fit into `count`, then a subset of the next rank. Moves the
/// chosen trials to the front.
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
  bring_first(trials, count,
              [&](const Trial& trial) { return complete_key(trial, directions.front()); });
}

}  // namespace

std::size_t good_count(std::size_t finished, std::size_t objectives) {
  const auto tenth = static_cast<std::size_t>(std::ceil(0.1 * static_cast<double>(finished)));
  return std::min<std::size_t>(tenth, objectives > 1 ? 100 : 25);
}

Split split_history(std::span<const Trial* const> history,
                    const std::vector<Direction>& directions) {
  const auto finished = std::count_if(history.begin(), history.end(), is_finished);
  return split_history(history, directions,
                       good_count(static_cast<std::size_t>(finished), directions.size()));
}

Split split_history(std::span<const Trial* const> history, const std::vector<Direction>& directions,
                    std::size_t good) {
  Kinds kinds = sort_out(history);
  order_complete(kinds.complete, directions, good);
  std::size_t missing = good - std::min(good, kinds.complete.size());
  bring_first(kinds.pruned, missing,
              [&](const Trial& trial) { return pruned_key(trial, directions.front()); });
  missing -= std::min(missing, kinds.pruned.size());
  bring_first(kinds.infeasible, missing, infeasible_key);

  Split split;
  for (const Trials* part : {&kinds.complete, &kinds.pruned, &kinds.infeasible, &kinds.running}) {
    const std::size_t wanted = std::min(good - split.below.size(), part->size());
    const auto border = part->begin() + static_cast<std::ptrdiff_t>(wanted);
    split.below.insert(split.below.end(), part->begin(), border);
    split.above.insert(split.above.end(), border, part->end());
  }
  sort_by_number(split.below);
  sort_by_number(split.above);
  return split;
}

void SplitDigest::add_to(Best& best, const Key& key, std::size_t place) {
  const std::pair entry{key, place};
  if (best.size() == most_good() && best.back() < entry) return;
  best.insert(std::lower_bound(best.begin(), best.end(), entry), entry);
  if (best.size() > most_good()) best.pop_back();
}

void SplitDigest::add(const Trial& trial, std::size_t place) {
  finished_.push_back(place);
  const Kind kind = kind_of(trial);
  if (kind == Kind::infeasible)
    add_to(infeasible_, {infeasible_key(trial), 0}, place);
  else if (kind == Kind::pruned)
    add_to(pruned_, pruned_key(trial, directions_.front()), place);
  else if (directions_.size() > 1)
    fronts_.add(point_of(trial, directions_), place);
  else
    add_to(complete_, {complete_key(trial, directions_.front()), 0}, place);
}

std::vector<std::size_t> SplitDigest::picked() const {
  std::set<std::size_t> places;
  for (const Best* best : {&complete_, &pruned_, &infeasible_})
    for (const auto& [key, place] : *best) places.insert(place);
  // Fronts are picked whole, because the good trials in the last one depend on the whole front.
  std::size_t ranked = 0;
  for (std::size_t rank = 0; rank < fronts_.count() && ranked < most_good(); ++rank)
    for (const Fronts::Member& member : fronts_.front(rank)) {
      places.insert(member.place);
      ++ranked;
    }
  const std::size_t newest = std::min(finished_.size(), others_ + most_good());
  places.insert(finished_.end() - static_cast<std::ptrdiff_t>(newest), finished_.end());
  return {places.begin(), places.end()};
}

}  // namespace mase::samplers
