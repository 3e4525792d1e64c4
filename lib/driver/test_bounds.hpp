// SPDX-License-Identifier: Apache-2.0
// What `mase test` found at every level, and the bounds of --require on it.
#pragma once

#include <string>
#include <vector>

#include "driver/commands/commands.hpp"
#include "driver/config_file.hpp"
#include "driver/output.hpp"

namespace mase::driver {

/// What a model has at one level.
struct LevelFound {
  std::string asked, level;     ///< a model without formats is "float" at every level
  Tree figures = Tree::dict();  ///< numbers that `mase test` prints, by name
  Tree own = Tree::dict();      ///< metrics of the user's own, by name

  const Tree* find(std::string_view name) const;
};

/// A bound that holds at one level, or at all of them.
struct TestBound {
  search::Constraint bound;
  std::string level;  ///< "": at all

  std::string text() const;
};

/// The bounds of --require on these figures and on metrics of the user's own. A figure "*.NAME" is
/// one of any output or class. DiagnosticsError for a text that is not a bound, or names
/// another figure.
std::vector<TestBound> test_bounds(const TestRequest& request,
                                   const std::vector<std::string>& figures,
                                   const search::OwnMetrics& own, bool has_formats);

/// Whether the levels keep the bounds; an error in the log names each that does not.
/// Error(Fault::config) for a figure that was not measured.
bool keep_bounds(const std::vector<LevelFound>& found, const std::vector<TestBound>& bounds);

/// Adds the user's sums whose parts are there.
void add_sums(const search::OwnMetrics& own, LevelFound& found);

/// Says which of the user's sums are left out, and why.
void name_missing_sums(const search::OwnMetrics& own, const LevelFound& found);

/// Shows a table with a row per level and metric of the user's own, and adds them to the JSON
/// document; nothing without such metrics.
void print_metrics(Output& output, const std::vector<LevelFound>& found);

}  // namespace mase::driver
