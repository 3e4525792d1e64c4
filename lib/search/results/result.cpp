// SPDX-License-Identifier: Apache-2.0
// Finds the best trials of a study, or the nearest one if no trial satisfies the constraints.
#include "search/results/result.hpp"

#include "search/samplers/pareto.hpp"

namespace mase::search {

std::vector<std::size_t> StudyResult::best() const {
  std::vector<samplers::Trial> plain;
  plain.reserve(trials.size());
  for (const storage::Record& record : trials)
    plain.push_back(samplers::without_attributes(record.trial));
  return samplers::best_trials(plain, problem.directions);
}

std::optional<std::size_t> StudyResult::nearest_to_feasible() const {
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const samplers::Trial& trial = trials[i].trial;
    if (trial.state != samplers::TrialState::complete) continue;
    if (!nearest || trial.violation < trials[*nearest].trial.violation) nearest = i;
  }
  return nearest;
}

}  // namespace mase::search
