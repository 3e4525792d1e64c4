// SPDX-License-Identifier: Apache-2.0
// The table of metrics, and constraints as text.
#include "search/runners/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/field.hpp"
#include "base/text.hpp"
#include "search/runners/runners.hpp"

namespace mase::search {
namespace {

void add(std::vector<MetricRow>& table, const RunnerRow& runner) {
  for (const MetricDoc& metric : runner.metrics) {
    const auto row = std::find_if(table.begin(), table.end(), [&](const MetricRow& entry) {
      return entry.name == metric.name;
    });
    if (row != table.end())
      row->runners.push_back(runner.name);
    else
      table.push_back({metric.name,
                       {runner.name},
                       runner.kind == RunnerKind::software,
                       metric.better,
                       metric.doc});
  }
}

}  // namespace

const std::vector<MetricRow>& metric_table() {
  static const std::vector<MetricRow> table = [] {
    std::vector<MetricRow> rows;
    for (const RunnerRow& runner : runner_table()) add(rows, runner);
    return rows;
  }();
  return table;
}

const MetricRow* find_metric(std::string_view name) {
  const auto& table = metric_table();
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const MetricRow& entry) { return entry.name == name; });
  if (row != table.end()) return &*row;
  // "boxes.mae" is the figure mae of the output boxes.
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? nullptr : find_metric(name.substr(dot + 1));
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricRow& row : metric_table()) names.emplace_back(row.name);
  return names;
}

std::string Constraint::text() const {
  return metric + (at_most ? " <= " : " >= ") + double_text(bound);
}

double Constraint::excess(double value) const {
  return (at_most ? value - bound : bound - value) / std::max(1.0, std::abs(bound));
}

std::optional<Constraint> parse_bound(const std::string& text, const SourceLocation& where,
                                      Diagnostics& diagnostics) {
  const auto sign = std::min(text.find("<="), text.find(">="));
  const auto bound =
      sign == std::string::npos ? std::nullopt : parse_double(trim(text.substr(sign + 2)));
  if (!bound || !std::isfinite(*bound)) {
    diagnostics.error(where, "constraint '" + text +
                                 "' must read METRIC <= NUMBER or METRIC >= NUMBER, as in "
                                 "\"accuracy_drop <= 1.0\"");
    return std::nullopt;
  }
  return Constraint{std::string(trim(text.substr(0, sign))), text[sign] == '<', *bound, where};
}

std::optional<double> Measured::find(std::string_view metric) const {
  for (const Tree* part : {&software, &hardware})
    if (const Tree* found = part->find(metric)) return found->as_double();
  return std::nullopt;
}

double Measured::value(std::string_view metric) const {
  const auto found = find(metric);
  MASE_CHECK(found, "metric " + std::string(metric) + " was not measured");
  return *found;
}

}  // namespace mase::search
