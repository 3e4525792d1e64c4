// SPDX-License-Identifier: Apache-2.0
// The median rule for trials that report intermediate values.
#include "search/samplers/prune.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace mase::samplers {

namespace {

/// Whether `step` is the first report in its interval; the other reports are not checked.
bool is_first_of_interval(const MedianPruner& pruner, const Trial& trial, std::int64_t step) {
  const std::int64_t warmup = pruner.n_warmup_steps, interval = pruner.interval_steps;
  const std::int64_t start = (step - warmup) / interval * interval + warmup;
  const auto last = trial.intermediate.find(step);
  return last == trial.intermediate.begin() || std::prev(last)->first < start;
}

/// The best report that is a number, negated if more is better.
std::optional<double> best_report(const Trial& trial, double sign) {
  std::optional<double> best;
  for (const auto& [step, value] : trial.intermediate)
    if (!std::isnan(value)) best = best ? std::min(*best, sign * value) : sign * value;
  return best;
}

/// The median, which is the mean of the two middle values of an even number.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace

bool should_prune(const MedianPruner& pruner, std::span<const Trial> history, const Trial& trial,
                  Direction direction) {
  if (trial.intermediate.empty()) return false;
  const std::int64_t step = trial.intermediate.rbegin()->first;
  if (step < pruner.n_warmup_steps || !is_first_of_interval(pruner, trial, step)) return false;

  const double sign = direction == Direction::maximize ? -1 : 1;
  std::int64_t complete = 0;
  std::vector<double> others;
  for (const Trial& other : history) {
    if (other.state != TrialState::complete) continue;
    ++complete;
    const auto report = other.intermediate.find(step);
    if (report != other.intermediate.end() && !std::isnan(report->second))
      others.push_back(sign * report->second);
  }
  if (complete == 0 || complete < pruner.n_startup_trials) return false;
  const auto best = best_report(trial, sign);
  if (!best) return true;  // it has reported only NaN
  return !others.empty() && *best > median(std::move(others));
}

}  // namespace mase::samplers
