// SPDX-License-Identifier: Apache-2.0
// Measures the programs of [metrics] in a search.
#pragma once

#include <optional>
#include <vector>

#include "search/options.hpp"
#include "search/own_metrics/metric_rows.hpp"
#include "search/runners/runner.hpp"

namespace mase::search {

/// The rows that the runners of a search evaluate: those of the first software runner, or the whole
/// validation part.
BasicEvaluation rows_of(const Runners& runners);

/// The programs that a search needs. Several threads may use it at once.
class OwnPrograms {
 public:
  /// `others_run`: a runner shows the results of its own run on the rows of `rows_of`. Bench and
  /// options must outlive it. Error(Fault::config) if a program is not there, or the data set lacks
  /// the targets that it needs.
  OwnPrograms(const Bench& bench, const Options& options, bool others_run);

  MetricRows rows() const { return MetricRows(programs_); }
  /// Adds to `rows` what a runner shows; empty if the search needs no program.
  SeeResults seer(MetricRows& rows) const;
  /// What the programs measure of the rows, which a run of the model adds if no runner did.
  Tree measure(MetricRows& rows, const ir::Graph& graph, ir::Level level) const;

 private:
  const Bench& bench_;
  std::vector<const OwnMetric*> programs_;
  std::optional<RowBatches> batches_;  ///< none if another runner runs the model
};

}  // namespace mase::search
