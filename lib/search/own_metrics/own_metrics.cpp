// SPDX-License-Identifier: Apache-2.0
// Reads and checks the tables below [metrics].
#include "search/own_metrics/own_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "base/words.hpp"

namespace mase::search {
namespace {

const std::vector<std::string> placeholders{std::string(outputs_file), std::string(targets_file),
                                            std::string(inputs_file)};

/// The identifiers in braces of a command's word.
std::vector<std::string> names_in_braces(const std::string& word) {
  std::vector<std::string> names;
  for (std::size_t open = 0; (open = word.find('{', open)) != std::string::npos; ++open) {
    const std::size_t close = word.find_first_of("{}", open + 1);
    if (close == std::string::npos || word[close] != '}') continue;
    const std::string name = word.substr(open + 1, close - open - 1);
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_identifier_char))
      names.push_back(name);
  }
  return names;
}

/// The factors by metric. TOML reads the name `kappa.low` as a table in a table.
std::vector<std::pair<std::string, const Tree*>> factors_in(const Tree& table,
                                                            const std::string& before = "") {
  std::vector<std::pair<std::string, const Tree*>> factors;
  for (const auto& [name, factor] : table.as_dict())
    if (factor.is_dict())
      for (auto& inner : factors_in(factor, before + name + ".")) factors.push_back(inner);
    else
      factors.emplace_back(before + name, &factor);
  return factors;
}

class Reader {
 public:
  explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  OwnMetrics read(const Tree& tables) {
    if (!tables.is_dict()) {
      diagnostics_.error(tables.where, "'metrics' must hold tables [metrics.NAME]");
      return {};
    }
    for (const auto& [name, table] : tables.as_dict()) read_metric(name, table);
    for (const auto& [name, table] : tables.as_dict())
      if (const Tree* sum = table.find("sum"); sum && sum->is_dict()) check_terms(*sum);
    if (!diagnostics_.has_errors()) check_cycles();
    return std::move(metrics_);
  }

 private:
  void read_metric(const std::string& name, const Tree& table) {
    if (!table.is_dict())
      return diagnostics_.error(table.where, "'metrics." + name + "' must be a table");
    check_name(name, table.key_where);
    OwnMetric metric;
    metric.name = name;
    read_fields(table, metric, diagnostics_, {"sum"});
    const Tree* command = table.find("command");
    const Tree* sum = table.find("sum");
    if (!command == !sum)
      return diagnostics_.error(table.key_where,
                                "metric '" + name +
                                    "' needs either a command, such as \"python3 score.py "
                                    "{outputs} {targets}\", or a sum, such as { lut = 0.001, "
                                    "average_bitwidth = 1 }");
    metric.where = (command ? command : sum)->where;
    if (command) read_command(metric);
    if (sum) read_sum(*sum, table, metric);
    metrics_.rows.push_back(std::move(metric));
  }

  void check_name(const std::string& name, const SourceLocation& where) {
    if (find_metric(name))
      diagnostics_.error(where, "a runner measures a metric '" + name +
                                    "'; give your own another name, such as my_" + name);
    else if (!is_metric_name(name))
      diagnostics_.error(where, "the name of a metric has letters, digits, '_', '-' and '.'");
  }

  void read_command(OwnMetric& metric) {
    const Words found = split_words(metric.command);
    metric.words = found.words;
    const auto refuse = [&](const std::string& reason) {
      diagnostics_.error(metric.where, "command of metric '" + metric.name + "': " + reason);
    };
    if (!found.problem.empty()) return refuse(found.problem);
    if (found.words.empty()) return refuse("it names no program");
    for (const std::string& word : found.words)
      for (const std::string& name : names_in_braces(word))
        if (std::find(placeholders.begin(), placeholders.end(), name) == placeholders.end())
          refuse("there is no file {" + name + "}" + did_you_mean(name, placeholders, ";") +
                 " files: {" + join(placeholders, "}, {") + "}");
    if (!metric.reads(outputs_file))
      refuse("it does not name {outputs}, the file of what the model computes");
  }

  void read_sum(const Tree& sum, const Tree& table, OwnMetric& metric) {
    if (table.find("time_limit"))
      diagnostics_.error(table.at("time_limit").where, "a sum starts no program to limit");
    if (!sum.is_dict() || sum.size() == 0)
      return diagnostics_.error(sum.where,
                                "'sum' must be a table of factors by metric, such as { "
                                "lut = 0.001, average_bitwidth = 1 }");
    for (const auto& [name, factor] : factors_in(sum)) {
      if (factor->is_number() && std::isfinite(factor->as_double()))
        metric.sum.push_back({name, factor->as_double()});
      else
        diagnostics_.error(factor->where, "the factor of '" + name + "' must be a finite number");
    }
  }

  void check_terms(const Tree& sum) {
    for (const auto& [name, factor] : factors_in(sum))
      if (!find_metric(name) && !metrics_.source(name))
        diagnostics_.error(factor->key_where,
                           "unknown metric '" + name + "' in a sum" +
                               did_you_mean(name, metrics_.known_names(), ".") +
                               " Metrics: " + join(metrics_.known_names(), ", "));
  }

  void check_cycles() {
    for (const OwnMetric& metric : metrics_.rows)
      for (const Term& term : metric.sum)
        if (metrics_.with_terms({term.metric}).contains(metric.name))
          return diagnostics_.error(
              metric.where,
              "metric '" + metric.name + "' is a part of itself, by way of '" + term.metric + "'");
  }

  Diagnostics& diagnostics_;
  OwnMetrics metrics_;
};

}  // namespace

bool is_metric_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return is_identifier_char(c) || c == '-' || c == '.';
  });
}

bool OwnMetric::reads(std::string_view file) const {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.find("{" + std::string(file) + "}") != std::string::npos;
  });
}

std::string OwnMetric::text() const {
  const std::string place = where.text();
  return "metric " + name + (place.empty() ? "" : " (" + place + ")") + ", `" + command + "`";
}

Tree OwnMetric::table() const {
  Tree table = Tree::dict();
  if (is_program()) return write_fields(*this);
  table["direction"] = direction;
  for (const Term& term : sum) table["sum"][term.metric] = term.factor;
  return table;
}

const OwnMetric* OwnMetrics::find(std::string_view name) const {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const OwnMetric& entry) { return entry.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

const OwnMetric* OwnMetrics::source(std::string_view name) const {
  if (const OwnMetric* row = find(name)) return row;
  const OwnMetric* longest = nullptr;
  for (const OwnMetric& row : rows)
    if (row.is_program() && name.starts_with(row.name + ".") &&
        (!longest || row.name.size() > longest->name.size()))
      longest = &row;
  return longest;
}

std::vector<std::string> OwnMetrics::known_names() const {
  std::vector<std::string> names = metric_names();
  for (const OwnMetric& row : rows) names.push_back(row.name);
  return names;
}

std::set<std::string> OwnMetrics::with_terms(const std::vector<std::string>& names) const {
  std::set<std::string> all;
  std::vector<std::string> open = names;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const OwnMetric* row = source(name);
    if (!all.insert(name).second || !row) continue;
    for (const Term& term : row->sum) open.push_back(term.metric);
  }
  return all;
}

std::optional<double> OwnMetrics::sum_of(
    const OwnMetric& row,
    const std::function<std::optional<double>(const std::string&)>& value_of) const {
  double total = 0;
  for (const Term& term : row.sum) {
    const OwnMetric* part = find(term.metric);
    const auto value =
        part && !part->is_program() ? sum_of(*part, value_of) : value_of(term.metric);
    if (!value) return std::nullopt;
    total += term.factor * *value;
  }
  return total;
}

bool OwnMetrics::is_hardware(std::string_view name) const {
  const OwnMetric* own = source(name);
  if (!own)
    if (const MetricRow* row = find_metric(name)) return !row->software;
  return own && !own->is_program() &&
         std::all_of(own->sum.begin(), own->sum.end(),
                     [&](const Term& term) { return is_hardware(term.metric); });
}

OwnMetrics read_own_metrics(const Tree& tables, Diagnostics& diagnostics) {
  return Reader(diagnostics).read(tables);
}

}  // namespace mase::search
