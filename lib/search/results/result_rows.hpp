// SPDX-License-Identifier: Apache-2.0
// The parts that all outputs of a study share: its objectives, metrics and parameters by name, and
// its trials as rows of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/results/result.hpp"

namespace mase::search {

/// An objective as it is shown: the metric itself, without the scale of the configuration.
struct Objective {
  std::string name;  ///< name of the metric, or "sum_scaled_metrics"
  double scale = 1;  ///< value = scale * metric
  Direction better =
      Direction::maximize;  ///< direction of the metric; reversed if the scale is negative
};

std::vector<Objective> objectives_of(const StudyResult& result);
/// The value of an objective's metric; nothing if the trial has no value.
std::optional<double> objective_value(const storage::Record& record, const Objective& objective,
                                      std::size_t index);

/// The value of a metric that the trial measured; nullptr if it did not measure it.
const Tree* metric_of(const storage::Record& record, std::string_view name);
/// All metrics that the trial measured, by name.
Tree metrics_of(const storage::Record& record);
/// The names of all measured metrics: first those of objectives, then those of constraints, then
/// the others.
std::vector<std::string> metrics_of(const StudyResult& result);

/// The parameters in the order of the space, followed by other parameters that trials have.
std::vector<std::string> parameter_names(const StudyResult& result);
/// The external value of a parameter; null if the trial does not have it.
Tree parameter_of(const StudyResult& result, const storage::Record& record,
                  const std::string& name);

/// The reason why the trial failed, or the trial whose results it has; otherwise "".
std::string reason_of(const storage::Record& record);

/// The indices of the trials to show first: the best trials, sorted by the first objective, or the
/// nearest one if no trial is feasible.
std::vector<std::size_t> leading_trials(const StudyResult& result);

using NumberText = std::string (*)(double);
/// Formats with five significant digits, and whole numbers in full: 0.74213, 4.5, 20000, 1.2e-07.
std::string short_number(double value);
/// The text of a value: a string unchanged, a number formatted by `number`, "" for null, else JSON.
std::string cell_text(const Tree& value, NumberText number);

/// The header and rows of trials.csv, limited to the newest `count` rows.
struct TrialRows {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
TrialRows trial_rows(const StudyResult& result, NumberText number, std::size_t count);

}  // namespace mase::search
