// SPDX-License-Identifier: Apache-2.0
// The metrics by which a trial can be judged, the runners that deliver them, and bounds on them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tree.hpp"
#include "search/samplers/trial.hpp"

namespace mase::search {

using samplers::Direction;

/// A metric as a runner declares it.
struct MetricDoc {
  std::string_view name;
  Direction better;
  std::string_view doc;
};

/// A metric with all runners that deliver it, made from the table of runners.
struct MetricRow {
  std::string_view name;
  std::vector<std::string_view> runners;  ///< runners that deliver it; a search has only one
  bool software;                          ///< from sw_runner, else from hw_runner
  Direction better;
  std::string_view doc;
};

const std::vector<MetricRow>& metric_table();
const MetricRow* find_metric(std::string_view name);
std::vector<std::string> metric_names();  ///< of the runners' metrics

/// An objective: scale * metric is minimised or maximised.
struct Goal {
  std::string metric;
  double scale = 1.0;
  Direction direction = Direction::maximize;
  bool operator==(const Goal&) const = default;
};

/// A bound that a trial must satisfy to be feasible.
struct Constraint {
  std::string metric;
  bool at_most = true;
  double bound = 0;
  SourceLocation where;

  std::string text() const;  ///< "accuracy_drop <= 1.0"
  /// How far a value violates the bound, relative to the size of the bound (at least 1 unit); at
  /// most 0 if the value satisfies it.
  double excess(double value) const;
};

/// Reads "METRIC <= NUMBER" or "METRIC >= NUMBER"; nothing after a diagnostic at `where`.
std::optional<Constraint> parse_bound(const std::string& text, const SourceLocation& where,
                                      Diagnostics& diagnostics);

/// The measurements of a trial, by metric name.
struct Measured {
  Tree software = Tree::dict(), hardware = Tree::dict();
  /// The value of a metric; nothing if it was not measured.
  std::optional<double> find(std::string_view metric) const;
  /// The value of a metric. Error(Fault::internal) if it was not measured.
  double value(std::string_view metric) const;
};

}  // namespace mase::search
