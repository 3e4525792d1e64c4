// SPDX-License-Identifier: Apache-2.0
// Bounds are checked twice: their names before the model runs, and their values after it.
#include "driver/test_bounds.hpp"

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mase::driver {
namespace {

/// Takes "LEVEL." from the front of a metric that names one of the levels.
std::string take_level(const std::vector<std::string>& levels, std::string& metric) {
  for (const std::string& level : levels)
    if (metric.starts_with(level + ".")) {
      metric.erase(0, level.size() + 1);
      return level;
    }
  return "";
}

bool is_figure(const std::string& name, const std::vector<std::string>& figures) {
  return std::ranges::any_of(figures, [&](const std::string& figure) {
    return figure == name || (figure.starts_with("*.") && name.ends_with(figure.substr(1)));
  });
}

std::vector<std::string> names_of(const std::vector<std::string>& figures,
                                  const search::OwnMetrics& own) {
  std::vector<std::string> names;
  for (const std::string& figure : figures)
    names.push_back(figure.starts_with("*.") ? "NAME" + figure.substr(1) : figure);
  for (const search::OwnMetric& metric : own.rows) names.push_back(metric.name);
  return names;
}

[[noreturn]] void not_measured(const LevelFound& level, const std::string& name) {
  std::vector<std::string> names;
  for (const Tree* part : {&level.figures, &level.own})
    for (const auto& entry : part->as_dict()) names.push_back(entry.first);
  config_error("--require: '" + name + "' was not measured; measured are " + join(names, ", "));
}

using IsThere = std::function<bool(const std::string&)>;

/// The parts of a sum that are not the user's own and that `is_there` does not know.
std::vector<std::string> missing_parts(const search::OwnMetrics& own, const std::string& sum,
                                       const IsThere& is_there) {
  std::vector<std::string> missing;
  for (const std::string& part : own.with_terms({sum}))
    if (!own.source(part) && !is_there(part)) missing.push_back(part);
  return missing;
}

/// What is wrong with the metric of a bound; "" if nothing is.
std::string fault_of(const std::string& metric, const std::vector<std::string>& figures,
                     const search::OwnMetrics& own) {
  const auto is_there = [&](const std::string& name) { return is_figure(name, figures); };
  if (own.source(metric)) {
    const std::vector<std::string> missing = missing_parts(own, metric, is_there);
    return missing.empty() ? ""
                           : "mase test does not measure " + join(missing, ", ") + ", a part of '" +
                                 metric + "'";
  }
  if (is_there(metric)) return "";
  const std::vector<std::string> known = names_of(figures, own);
  return "there is no figure '" + metric + "'" + did_you_mean(metric, known, ".") +
         " Figures: " + join(known, ", ") +
         (own.rows.empty() ? "; one of your own needs --config FILE.toml with [metrics.NAME]" : "");
}

}  // namespace

const Tree* LevelFound::find(std::string_view name) const {
  const Tree* found = own.find(name);
  return found ? found : figures.find(name);
}

std::string TestBound::text() const { return (level.empty() ? "" : level + ".") + bound.text(); }

std::vector<TestBound> test_bounds(const TestRequest& request,
                                   const std::vector<std::string>& figures,
                                   const search::OwnMetrics& own, bool has_formats) {
  Diagnostics diagnostics;
  std::vector<std::string> levels = request.levels;
  if (!has_formats) levels.emplace_back("float");
  std::vector<TestBound> bounds;
  for (const std::string& text : request.require) {
    const SourceLocation where{"--require", 0, 0};
    auto bound = search::parse_bound(text, where, diagnostics);
    if (!bound) continue;
    const std::string level = take_level(levels, bound->metric);
    const std::string fault = fault_of(bound->metric, figures, own);
    if (!fault.empty()) diagnostics.error(where, fault);
    bounds.push_back({*bound, level});
  }
  diagnostics.throw_if_errors();
  return bounds;
}

bool keep_bounds(const std::vector<LevelFound>& found, const std::vector<TestBound>& bounds) {
  bool kept = true;
  for (const LevelFound& level : found)
    for (const TestBound& entry : bounds) {
      if (!entry.level.empty() && entry.level != level.asked && entry.level != level.level)
        continue;
      const Tree* value = level.find(entry.bound.metric);
      if (!value) not_measured(level, entry.bound.metric);
      if (entry.bound.excess(value->as_double()) <= 0) continue;
      kept = false;
      log::error(entry.bound.metric + " is " + fixed_text(value->as_double(), 6) + " (" +
                 level.level + "), but the bound is " + entry.text());
    }
  return kept;
}

void add_sums(const search::OwnMetrics& own, LevelFound& found) {
  for (const search::OwnMetric& row : own.rows) {
    if (row.is_program()) continue;
    const auto sum = own.sum_of(row, [&](const std::string& metric) -> std::optional<double> {
      const Tree* value = found.find(metric);
      return value ? std::optional(value->as_double()) : std::nullopt;
    });
    if (sum) found.own[row.name] = *sum;
  }
}

void name_missing_sums(const search::OwnMetrics& own, const LevelFound& found) {
  for (const search::OwnMetric& row : own.rows) {
    if (row.is_program() || found.own.find(row.name)) continue;
    const auto is_there = [&](const std::string& name) { return found.find(name) != nullptr; };
    log::info("metric " + row.name + " is left out: mase test does not measure " +
              join(missing_parts(own, row.name, is_there), ", "));
  }
}

void print_metrics(Output& output, const std::vector<LevelFound>& found) {
  passes::ReportTable table{"Metrics of your own", {"Level", "Metric", "Value"}, {}, ""};
  for (const LevelFound& level : found)
    for (const auto& [name, value] : level.own.as_dict()) {
      table.rows.push_back({level.level, name, fixed_text(value.as_double(), 6)});
      output.document()["metrics"][level.level][name] = value;
    }
  if (!table.rows.empty()) output.table(table);
}

}  // namespace mase::driver
