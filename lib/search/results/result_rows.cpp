// SPDX-License-Identifier: Apache-2.0
// Objectives, metrics and parameters of a study by name, and its trials as rows of text.
#include "search/results/result_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/text.hpp"

namespace mase::search {
namespace {

using storage::Record;

constexpr std::array<std::string_view, 2> metric_attributes{"software_metrics", "hardware_metrics"};

template <class Take>
void for_metrics(const Record& record, const Take& take) {
  for (const std::string_view attribute : metric_attributes)
    if (const Tree* metrics = record.user.find(attribute); metrics && metrics->is_dict())
      for (const auto& [name, value] : metrics->as_dict()) take(name, value);
}

Direction opposite(Direction direction) {
  return direction == Direction::minimize ? Direction::maximize : Direction::minimize;
}

Objective objective_at(const StudyResult& result, std::size_t index) {
  const Direction direction = result.problem.directions[index];
  if (result.options.setup.sum_scaled_metrics) return {"sum_scaled_metrics", 1, direction};
  if (index >= result.options.goals.size())
    return {"objective " + std::to_string(index), 1, direction};
  const Goal& goal = result.options.goals[index];
  return {goal.metric, goal.scale, goal.scale < 0 ? opposite(direction) : direction};
}

void add_once(std::vector<std::string>& names, const std::set<std::string>& wanted,
              const std::string& name) {
  if (wanted.contains(name) && std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
}

std::set<std::string> measured_names(const StudyResult& result) {
  std::set<std::string> names;
  for (const Record& record : result.trials)
    for_metrics(record, [&](const std::string& name, const Tree&) { names.insert(name); });
  return names;
}

/// The distribution of the parameter in this trial: the trial's own, or that of the space.
const samplers::Distribution* distribution_of(const StudyResult& result, const Record& record,
                                              const std::string& name) {
  const auto own = record.distributions.find(name);
  if (own != record.distributions.end()) return own->second.get();
  for (const samplers::Dimension& dimension : result.problem.space)
    if (dimension.name == name) return &dimension.distribution;
  return nullptr;
}

std::string seconds_text(const Record& record, NumberText number) {
  if (!record.start || !record.complete) return "";
  return number(static_cast<double>(*record.complete - *record.start) / 1000);
}

std::vector<std::string> value_names(const StudyResult& result) {
  const std::size_t count = result.problem.directions.size();
  if (count == 1) return {"value"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("values_" + std::to_string(i));
  return names;
}

/// The columns that depend on the study.
struct Columns {
  std::vector<std::string> values, metrics, parameters;
  bool constrained = false;
};

std::vector<std::string> header_of(const Columns& columns) {
  std::vector<std::string> header{"number", "state"};
  header.insert(header.end(), columns.values.begin(), columns.values.end());
  header.insert(header.end(), columns.metrics.begin(), columns.metrics.end());
  for (const std::string& name : columns.parameters) header.push_back("params_" + name);
  if (columns.constrained) header.emplace_back("violation");
  header.insert(header.end(), {"seconds", "reason"});
  return header;
}

std::vector<std::string> row_of(const StudyResult& result, const Columns& columns,
                                const Record& record, NumberText number) {
  const samplers::Trial& trial = record.trial;
  std::vector<std::string> row{std::to_string(trial.number),
                               std::string(samplers::state_name(trial.state))};
  for (std::size_t i = 0; i < columns.values.size(); ++i)
    row.push_back(i < trial.values.size() ? number(trial.values[i]) : "");
  for (const std::string& name : columns.metrics) {
    const Tree* metric = metric_of(record, name);
    row.push_back(metric ? cell_text(*metric, number) : "");
  }
  for (const std::string& name : columns.parameters)
    row.push_back(cell_text(parameter_of(result, record, name), number));
  if (columns.constrained)
    row.push_back(trial.state == samplers::TrialState::complete ? number(trial.violation) : "");
  row.push_back(seconds_text(record, number));
  row.push_back(reason_of(record));
  return row;
}

}  // namespace

std::vector<Objective> objectives_of(const StudyResult& result) {
  std::vector<Objective> objectives;
  for (std::size_t i = 0; i < result.problem.directions.size(); ++i)
    objectives.push_back(objective_at(result, i));
  return objectives;
}

std::optional<double> objective_value(const Record& record, const Objective& objective,
                                      std::size_t index) {
  if (index >= record.trial.values.size()) return std::nullopt;
  const Tree* metric = metric_of(record, objective.name);
  if (metric && metric->is_number()) return metric->as_double();
  const double value = record.trial.values[index];
  return objective.scale == 0 ? value : value / objective.scale;
}

const Tree* metric_of(const Record& record, std::string_view name) {
  for (const std::string_view attribute : metric_attributes)
    if (const Tree* metrics = record.user.find(attribute))
      if (const Tree* metric = metrics->find(name)) return metric;
  return nullptr;
}

Tree metrics_of(const Record& record) {
  Tree metrics = Tree::dict();
  for_metrics(record, [&](const std::string& name, const Tree& value) { metrics[name] = value; });
  return metrics;
}

std::vector<std::string> metrics_of(const StudyResult& result) {
  const std::set<std::string> measured = measured_names(result);
  std::vector<std::string> names;
  for (const Goal& goal : result.options.goals) add_once(names, measured, goal.metric);
  for (const Constraint& constraint : result.options.constraints)
    add_once(names, measured, constraint.metric);
  for (const MetricRow& row : metric_table()) add_once(names, measured, std::string(row.name));
  for (const std::string& name : measured) add_once(names, measured, name);
  return names;
}

std::vector<std::string> parameter_names(const StudyResult& result) {
  std::vector<std::string> names;
  std::set<std::string> others;
  for (const Record& record : result.trials)
    for (const auto& [name, value] : record.trial.params) others.insert(name);
  for (const samplers::Dimension& dimension : result.problem.space) {
    names.push_back(dimension.name);
    others.erase(dimension.name);
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

Tree parameter_of(const StudyResult& result, const Record& record, const std::string& name) {
  const auto found = record.trial.params.find(name);
  if (found == record.trial.params.end()) return {};
  const samplers::Distribution* distribution = distribution_of(result, record, name);
  if (!distribution || !samplers::contains(*distribution, found->second)) return found->second;
  return samplers::external_value(*distribution, found->second);
}

std::string reason_of(const Record& record) {
  if (const Tree* earlier = record.trial.attributes.find(storage::repeats_attribute))
    return "as trial " + to_json(*earlier, -1);
  const Tree* reason = record.trial.attributes.find("fail_reason");
  return reason && reason->is_string() ? reason->as_string() : "";
}

std::vector<std::size_t> leading_trials(const StudyResult& result) {
  std::vector<std::size_t> best = result.best();
  if (const auto nearest = result.nearest_to_feasible(); best.empty() && nearest) return {*nearest};
  const auto value = [&](std::size_t i) { return result.trials[i].trial.values.front(); };
  std::stable_sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) {
    return result.problem.directions.front() == Direction::minimize ? value(a) < value(b)
                                                                    : value(b) < value(a);
  });
  return best;
}

std::string short_number(double value) {
  constexpr int digits = 5;
  const double size = std::abs(value);
  if (!std::isfinite(value)) return double_text(value);
  if (size < 1e15 && (size >= 1e4 || value == std::nearbyint(value)))
    return fixed_text(value == 0 ? 0.0 : value, 0);
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, digits)
                       .ptr;
  return {buffer.data(), end};
}

std::string cell_text(const Tree& value, NumberText number) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.as_string();
  return value.is_double() ? number(value.as_double()) : to_json(value, -1);
}

TrialRows trial_rows(const StudyResult& result, NumberText number, std::size_t count) {
  const Columns columns{value_names(result), metrics_of(result), parameter_names(result),
                        !result.options.constraints.empty()};
  TrialRows table{header_of(columns), {}};
  const std::size_t first = result.trials.size() - std::min(count, result.trials.size());
  for (std::size_t i = first; i < result.trials.size(); ++i)
    table.rows.push_back(row_of(result, columns, result.trials[i], number));
  return table;
}

}  // namespace mase::search
