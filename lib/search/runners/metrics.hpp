// SPDX-License-Identifier: Apache-2.0
// Metrics: what a trial can be judged by, which runner delivers it, and bounds on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tree.hpp"
#include "search/samplers/trial.hpp"

namespace mase::search {

using samplers::Direction;

/// One metric as a runner declares it.
struct MetricDoc {
  std::string_view name;
  Direction better;
  std::string_view doc;
};

/// One metric with all that deliver it; made from the table of runners.
struct MetricRow {
  std::string_view name;
  std::vector<std::string_view> runners;  ///< that deliver it: of those, a search has one
  bool software;                          ///< of sw_runner, else of hw_runner
  Direction better;
  std::string_view doc;
};

const std::vector<MetricRow>& metric_table();
const MetricRow* find_metric(std::string_view name);
std::vector<std::string> metric_names();

/// One objective: scale * metric is minimised or maximised.
struct Goal {
  std::string metric;
  double scale = 1.0;
  Direction direction = Direction::maximize;
  bool operator==(const Goal&) const = default;
};

/// A bound that a trial has to keep to be feasible.
struct Constraint {
  std::string metric;
  bool at_most = true;
  double bound = 0;
  SourceLocation where;

  std::string text() const;  ///< "accuracy_drop <= 1.0"
  /// How far a value misses the bound, relative to the bound's size (at least 1 unit); at most 0
  /// when kept.
  double excess(double value) const;
};

/// Reads "METRIC <= NUMBER" or "METRIC >= NUMBER"; nothing after a diagnostic at `where`.
std::optional<Constraint> parse_constraint(const std::string& text, const SourceLocation& where,
                                           Diagnostics& diagnostics);

/// What one trial measured, by metric name.
struct Measured {
  Tree software = Tree::dict(), hardware = Tree::dict();
  /// Error(Fault::internal) when the metric was not measured.
  double value(std::string_view metric) const;
};

}  // namespace mase::search
