// SPDX-License-Identifier: Apache-2.0
// Studies for the tests of results: two objectives, a constraint, and names that need escaping.
#pragma once

#include "search/results/result.hpp"

namespace mase::search {

inline constexpr const char* hostile_name = "a<b>&\"c',\n</script><script>alert(1)</script>/width";

struct Measurement {
  double accuracy, bits, violation = 0;
};

inline samplers::Dimension widths_dimension(const std::string& name) {
  return {name, samplers::CategoricalDistribution{{Tree(8), Tree(2), Tree(4)}}, std::nullopt};
}

/// Maximizes accuracy and minimizes average_bitwidth with scale 0.5; accuracy_drop <= 1.
inline StudyResult small_study() {
  StudyResult result;
  result.name = "small";
  result.options.goals = {{"accuracy", 1.0, Direction::maximize},
                          {"average_bitwidth", 0.5, Direction::minimize}};
  result.options.constraints = {{"accuracy_drop", true, 1.0, {}}};
  result.problem = {{widths_dimension("fc1/config/width"), widths_dimension("fc2/config/width")},
                    {Direction::maximize, Direction::minimize},
                    7};
  result.baseline["accuracy"] = 0.9;
  return result;
}

/// A finished trial whose metrics, values and attributes agree with small_study's goals.
inline storage::Record& add_trial(StudyResult& result, const Measurement& m) {
  storage::Record& record = result.trials.emplace_back();
  record.trial.number = static_cast<std::int64_t>(result.trials.size()) - 1;
  record.trial.state = samplers::TrialState::complete;
  record.trial.values = {m.accuracy, 0.5 * m.bits};
  record.trial.violation = m.violation;
  for (const samplers::Dimension& dimension : result.problem.space) {
    record.trial.params[dimension.name] = static_cast<double>(record.trial.number % 3);
    record.distributions[dimension.name] =
        std::make_shared<samplers::Distribution>(dimension.distribution);
  }
  record.trial.attributes["constraints"] = Tree::List{Tree(m.violation)};
  record.user["software_metrics"]["accuracy"] = m.accuracy;
  record.user["software_metrics"]["accuracy_drop"] = 1 + m.violation;
  record.user["hardware_metrics"]["average_bitwidth"] = m.bits;
  record.user["scaled_metrics"]["accuracy"] = m.accuracy;
  record.user["scaled_metrics"]["average_bitwidth"] = 0.5 * m.bits;
  record.user["sampled_config"]["by"] = "name";
  record.start = 1700000000000 + 1000 * record.trial.number;
  record.complete = *record.start + 250;
  return record;
}

inline storage::Record& add_failed(StudyResult& result, const std::string& reason) {
  storage::Record& record = result.trials.emplace_back();
  record.trial.number = static_cast<std::int64_t>(result.trials.size()) - 1;
  record.trial.state = samplers::TrialState::fail;
  record.trial.attributes["fail_reason"] = reason;
  record.start = 1700000000000;
  return record;
}

/// Trials 0 to 5: 1 and 4 and 5 are the Pareto set; 3 would be, but misses the constraint.
inline StudyResult six_trials() {
  StudyResult result = small_study();
  add_trial(result, {0.70, 4});
  add_trial(result, {0.80, 4});
  add_trial(result, {0.75, 6});
  add_trial(result, {0.95, 2, 3.0});
  add_trial(result, {0.60, 2});
  add_trial(result, {0.85, 8});
  return result;
}

}  // namespace mase::search
