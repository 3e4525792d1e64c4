// SPDX-License-Identifier: Apache-2.0
// What all outputs of a study have in common: its objectives, metrics and parameters by name, and
// its trials as rows of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/results/result.hpp"

namespace mase::search {

/// An objective as people see it: the metric itself, without the scale of the configuration.
struct Objective {
  std::string name;  ///< of the metric, or "sum_scaled_metrics"
  double scale = 1;  ///< value = scale * metric
  Direction better =
      Direction::maximize;  ///< of the metric: the opposite when the scale is negative
};

std::vector<Objective> objectives_of(const StudyResult& result);
/// The metric behind an objective; nothing when the trial has no value.
std::optional<double> objective_value(const storage::Record& record, const Objective& objective,
                                      std::size_t index);

/// The metric that the trial measured; nullptr when it did not.
const Tree* metric_of(const storage::Record& record, std::string_view name);
/// The metrics that any trial measured: those of objectives, of constraints, the others.
std::vector<std::string> metrics_of(const StudyResult& result);

/// The parameters of the space in its order, then what trials have beside it.
std::vector<std::string> parameter_names(const StudyResult& result);
/// The external value of a parameter; null when the trial does not have it.
Tree parameter_of(const StudyResult& result, const storage::Record& record,
                  const std::string& name);

/// Why the trial failed, or whose results it has; "" when there is nothing to say.
std::string reason_of(const storage::Record& record);

/// Indices of the trials to show first: the best, the best by the first objective first; where no
/// trial is feasible the nearest one.
std::vector<std::size_t> leading_trials(const StudyResult& result);

using NumberText = std::string (*)(double);
/// Five significant digits, whole numbers in full: 0.74213, 4.5, 20000, 1.2e-07, inf.
std::string short_number(double value);
/// Strings as they are, numbers by the function, "" for null, anything else as JSON.
std::string cell_text(const Tree& value, NumberText number);

/// Header and rows of trials.csv; `count` rows at most, the newest ones.
struct TrialRows {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
TrialRows trial_rows(const StudyResult& result, NumberText number, std::size_t count);

}  // namespace mase::search
