// SPDX-License-Identifier: Apache-2.0
// The rows that the programs of metrics get, gathered over batches, and running these programs.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "ir/evaluator.hpp"
#include "search/own_metrics/own_metrics.hpp"

namespace mase::search {

/// Arrays by name, [rows, ...], that grow batch by batch.
class GrowingArrays {
 public:
  /// Appends arrays with the names of those before.
  void add(const ir::Results& batch);
  /// The whole arrays. Error(Fault::unsupported) for arrays whose batches differ in more than their
  /// number of rows, or that have no rows.
  ir::Results joined() const;

 private:
  std::vector<ir::Results> batches_;
};

/// Rows of a data set that a model has run on, for some programs.
class MetricRows {
 public:
  explicit MetricRows(std::vector<const OwnMetric*> programs) : programs_(std::move(programs)) {}

  void add_outputs(const ir::Results& outputs) { outputs_.add(outputs); }
  /// Adds what the programs read of a batch: its inputs, and its targets.
  void add_data(const data::Dataset& dataset, const data::Batch& batch);
  /// Writes the files that the programs name into a temporary folder, runs the programs, and
  /// returns the numbers that they print, by metric; those of a JSON object as "METRIC.key".
  /// Error(Fault::file) for a program that fails, takes too long, or prints anything but one finite
  /// number or an object of such.
  Tree measure() const;

 private:
  bool reads(std::string_view file) const;

  std::vector<const OwnMetric*> programs_;
  GrowingArrays outputs_, targets_, inputs_;
};

/// Error(Fault::config) if a program is not there, or needs targets that the data set lacks.
void check_programs(const std::vector<const OwnMetric*>& programs, const data::Dataset& dataset);

}  // namespace mase::search
