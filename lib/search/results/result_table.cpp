// SPDX-License-Identifier: Apache-2.0
// The Pareto set as a table for the terminal and the page.
#include "search/results/result_rows.hpp"

namespace mase::search {
namespace {

using storage::Record;

/// "kept", or the measured value that violates the bound; "" if the metric is not known.
std::string constraint_text(const Constraint& constraint, const Record& record) {
  const Tree* metric = metric_of(record, constraint.metric);
  if (!metric || !metric->is_number()) return "";
  if (constraint.excess(metric->as_double()) <= 0) return "kept";
  return "missed: " + short_number(metric->as_double());
}

/// The choices of a trial, grouped by node: "fc1: integer, weight_width 4; fc2: mxint8".
std::string choices_text(const StudyResult& result, const Record& record) {
  constexpr std::size_t longest = 100;
  std::string text, before;
  for (const samplers::Dimension& dimension : result.problem.space) {
    const auto value = record.trial.params.find(dimension.name);
    if (value == record.trial.params.end()) continue;
    const std::size_t config = dimension.name.find("/config/");
    const bool named = config != std::string::npos;
    const std::string selector = named ? dimension.name.substr(0, config) : "";
    const std::string key = named ? dimension.name.substr(config + 8) : dimension.name;
    const Tree chosen = samplers::external_value(dimension.distribution, value->second);
    const bool first = text.empty() || selector != before;
    text += (text.empty() ? ""
             : first      ? "; "
                          : ", ") +
            (first && named ? selector + ": " : std::string()) + (key == "name" ? "" : key + " ") +
            (chosen.is_string() ? chosen.as_string() : to_json(chosen, -1));
    before = selector;
  }
  return text.size() > longest ? text.substr(0, longest) + " ..." : text;
}

std::vector<std::string> row_of(const StudyResult& result, const std::vector<std::string>& metrics,
                                const Record& record) {
  std::vector<std::string> row{std::to_string(record.trial.number)};
  if (result.options.setup.sum_scaled_metrics)
    row.push_back(record.trial.values.empty() ? "" : short_number(record.trial.values.front()));
  for (const std::string& name : metrics) {
    const Tree* metric = metric_of(record, name);
    row.push_back(metric ? cell_text(*metric, short_number) : "");
  }
  for (const Constraint& constraint : result.options.constraints)
    row.push_back(constraint_text(constraint, record));
  row.push_back(choices_text(result, record));
  return row;
}

std::string title_of(const StudyResult& result, const std::vector<std::size_t>& leading) {
  if (leading.empty()) return "No completed trial";
  if (result.trials[leading.front()].trial.violation > 0)
    return "No trial satisfies the constraints; the nearest";
  return result.problem.directions.size() == 1 ? "Best trial" : "Pareto set";
}

}  // namespace

passes::ReportTable best_table(const StudyResult& result) {
  const std::vector<std::size_t> leading = leading_trials(result);
  passes::ReportTable table{title_of(result, leading), {"Trial"}, {}, ""};
  const std::vector<std::string> metrics = metrics_of(result);
  if (result.options.setup.sum_scaled_metrics) table.header.emplace_back("sum_scaled_metrics");
  table.header.insert(table.header.end(), metrics.begin(), metrics.end());
  for (const Constraint& constraint : result.options.constraints)
    table.header.push_back(constraint.text());
  table.header.emplace_back("Choices");
  for (const std::size_t index : leading)
    table.rows.push_back(row_of(result, metrics, result.trials[index]));
  return table;
}

passes::ReportTable sensitivity_table(const StudyResult& result, NumberText number) {
  passes::ReportTable table{
      "Sensitivity", {"Layer", "Parameters", "loss", result.cost_metric}, {}, ""};
  for (const Tree& row : result.sensitivity.as_list())
    table.rows.push_back({row.at("layer").as_string(), to_json(row.at("parameters"), -1),
                          number(row.at("loss").as_double()), number(row.at("cost").as_double())});
  return table;
}

}  // namespace mase::search
