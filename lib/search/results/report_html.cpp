// SPDX-License-Identifier: Apache-2.0
// Writes the page of a study.
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "report/html_page.hpp"
#include "search/results/report_charts.hpp"
#include "search/results/result_rows.hpp"

namespace mase::search {
namespace {

using report::html_entry;
using report::html_section;
using report::html_table;

constexpr std::size_t most_rows = 5000;

/// "20: 18 complete, 2 fail".
std::string states_text(const StudyResult& result) {
  std::map<samplers::TrialState, std::size_t> counts;
  for (const storage::Record& record : result.trials) ++counts[record.trial.state];
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) {
    parts.push_back(std::to_string(count) + " " + lower_case(samplers::state_name(state)));
  }
  const std::string total = std::to_string(result.trials.size());
  return parts.empty() ? total : total + ": " + join(parts, ", ");
}

std::string objectives_text(const StudyResult& result) {
  std::vector<std::string> parts;
  for (const Objective& objective : objectives_of(result)) {
    std::string text = objective.better == Direction::maximize ? "maximize " : "minimize ";
    text += objective.name;
    if (objective.scale != 1) text += " (scale " + short_number(objective.scale) + ")";
    parts.push_back(std::move(text));
  }
  return join(parts, ", ");
}

std::string constraints_text(const StudyResult& result) {
  std::vector<std::string> parts;
  for (const Constraint& constraint : result.options.constraints)
    parts.push_back(constraint.text());
  return join(parts, ", ");
}

std::string baseline_text(const StudyResult& result) {
  std::vector<std::string> parts;
  if (result.baseline.is_dict())
    for (const auto& [name, value] : result.baseline.as_dict())
      if (value.is_number()) parts.push_back(name + " " + cell_text(value, short_number));
  return join(parts, ", ");
}

std::string space_text(const StudyResult& result) {
  const auto count = samplers::configurations(result.problem.space);
  std::vector<std::string> names;
  for (const SpaceOptions& space : result.options.spaces) names.push_back(space.name);
  return join(names, " + ") + ", " + std::to_string(result.problem.space.size()) + " parameters" +
         (count ? ", " + std::to_string(*count) + " configurations" : "");
}

std::string summary(const StudyResult& result) {
  return "<dl>\n" +
         html_entry("Sampler",
                    result.samplers.empty() ? result.options.setup.sampler : result.samplers) +
         html_entry("Seed", std::to_string(result.problem.seed)) +
         html_entry("Search space", space_text(result)) +
         html_entry("Objectives", objectives_text(result)) +
         html_entry("Constraints", constraints_text(result)) +
         html_entry("Float model", baseline_text(result)) +
         html_entry("Trials", states_text(result)) + "</dl>\n";
}

std::string best_section(const StudyResult& result) {
  const passes::ReportTable table = best_table(result);
  return html_section(table.title, table.rows.empty()
                                       ? "<p>Nothing to show yet.</p>\n"
                                       : html_table(table.header, table.rows, "best"));
}

std::string sensitivity_section(const StudyResult& result) {
  if (result.sensitivity.size() == 0) return "";
  const passes::ReportTable table = sensitivity_table(result, short_number);
  return html_section(table.title,
                      "<p>The effect of each choice of a layer, all other layers unchanged.</p>\n" +
                          html_table(table.header, table.rows, "sortable"));
}

std::string confirmed_section(const StudyResult& result) {
  const passes::ReportTable& table = result.confirmed;
  return table.rows.empty()
             ? ""
             : html_section(table.title, html_table(table.header, table.rows, "best"));
}

/// A section, or "" if there is nothing to show.
std::string optional_section(const std::string& title, const std::string& content) {
  return content.empty() ? "" : html_section(title, content);
}

/// Whether another column has the same text in every row.
bool is_said(const TrialRows& table, std::size_t column) {
  for (std::size_t other = 0; other < table.header.size(); ++other)
    if (other != column && std::all_of(table.rows.begin(), table.rows.end(),
                                       [&](const auto& row) { return row[other] == row[column]; }))
      return true;
  return false;
}

/// Removes the value columns that repeat a metric, as they do without a scale.
void drop_values_said_twice(TrialRows& table) {
  for (std::size_t column = table.header.size(); column-- > 0;) {
    if (!table.header[column].starts_with("value") || !is_said(table, column)) continue;
    table.header.erase(table.header.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

std::string trials_section(const StudyResult& result) {
  TrialRows table = trial_rows(result, short_number, most_rows);
  drop_values_said_twice(table);
  std::string note;
  if (table.rows.size() < result.trials.size())
    note = "<p>The newest " + std::to_string(table.rows.size()) + " of " +
           std::to_string(result.trials.size()) + " trials; trials.csv has all.</p>\n";
  return html_section("Trials", note + html_table(table.header, table.rows, "sortable"));
}

}  // namespace

std::string report_html(const StudyResult& result) {
  return report::html_page(
      "Search " + result.name,
      summary(result) + best_section(result) + confirmed_section(result) +
          optional_section("Formats of the best trial", bits_figure(result)) +
          html_section("History", history_figures(result)) +
          optional_section("Pareto front", pareto_figures(result)) +
          optional_section("Parallel coordinates", parallel_figure(result)) +
          html_section("Importance of the parameters", importance_figures(result)) +
          html_section("Choices of the best trials", choices_figure(result)) +
          sensitivity_section(result) + optional_section("Workers", workers_figure(result)) +
          trials_section(result));
}

}  // namespace mase::search
