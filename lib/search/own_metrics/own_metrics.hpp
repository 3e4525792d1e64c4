// SPDX-License-Identifier: Apache-2.0
// Metrics of the user's own: programs that measure a model's outputs, and weighted sums of metrics.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "search/runners/metrics.hpp"

namespace mase::search {

/// A metric times a factor.
struct Term {
  std::string metric;
  double factor = 1;
};

/// What a command may name in braces; each stands for a file that the program can read.
inline constexpr std::string_view outputs_file = "outputs", targets_file = "targets",
                                  inputs_file = "inputs";

/// The table `[metrics.NAME]`. It has either a command or a sum.
struct OwnMetric {
  std::string name;
  std::string command;
  std::string direction = "maximize";
  double time_limit = 60;
  std::vector<Term> sum;
  std::vector<std::string> words;  ///< of the command, with its placeholders
  SourceLocation where;            ///< of the command or the sum

  bool is_program() const { return !words.empty(); }
  bool reads(std::string_view file) const;  ///< whether the command names this file
  /// "metric kappa (x.toml:3:11), `python3 score.py {outputs}`", for messages.
  std::string text() const;
  Tree table() const;  ///< as it was given, with its defaults

  static constexpr auto fields() {
    using M = OwnMetric;
    return std::tuple{
        Field{"command", &M::command, "program that prints the metric of {outputs}"},
        Field{"direction", &M::direction, "direction of improvement"}.one_of("maximize",
                                                                             "minimize"),
        Field{"time_limit", &M::time_limit, "seconds after which the program is stopped"}.between(
            0.001, 86400)};
  }
};

/// All tables below `[metrics]`.
struct OwnMetrics {
  std::vector<OwnMetric> rows;

  const OwnMetric* find(std::string_view name) const;
  /// The metric that has this name, or the program that may print it: "kappa.low" is the number
  /// "low" of the program kappa.
  const OwnMetric* source(std::string_view name) const;
  /// The names of all metrics, those of the runners first.
  std::vector<std::string> known_names() const;
  /// These metrics and all that their sums consist of.
  std::set<std::string> with_terms(const std::vector<std::string>& names) const;
  /// The value of a metric of the user's own whose parts `value_of` knows: nothing where it does
  /// not.
  std::optional<double> sum_of(
      const OwnMetric& row,
      const std::function<std::optional<double>(const std::string&)>& value_of) const;
  /// Whether a metric is of the hardware runners, or a sum of such metrics only.
  bool is_hardware(std::string_view name) const;
};

/// Whether all characters may stand in the name of a metric.
bool is_metric_name(std::string_view name);

/// Reads `[metrics]`. Every fault is a diagnostic at its place: names that a runner has, commands
/// that cannot be split or name other files, unknown metrics in sums, and sums of themselves.
OwnMetrics read_own_metrics(const Tree& tables, Diagnostics& diagnostics);

}  // namespace mase::search
