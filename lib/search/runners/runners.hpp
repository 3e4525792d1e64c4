// SPDX-License-Identifier: Apache-2.0
// The runners of the program. A new one needs two files of its own, and a member and a line here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "search/runners/average_bitwidth.hpp"
#include "search/runners/basic_evaluation.hpp"
#include "search/runners/basic_train.hpp"
#include "search/runners/count_operations.hpp"
#include "search/runners/hardware_cost.hpp"
#include "search/runners/output_distance.hpp"

namespace mase::search {

/// The runners that the configuration has. Absent runners deliver no metrics.
struct Runners {
  std::optional<BasicEvaluation> evaluation;
  std::optional<BasicTrain> training;
  std::optional<OutputDistance> distance;
  std::optional<AverageBitwidth> bits;
  std::optional<CountOperations> operations;
  std::optional<HardwareCost> hardware;
  /// All members, in the order in which they measure.
  static constexpr auto members() {
    using R = Runners;
    return std::tuple{&R::evaluation, &R::training,   &R::distance,
                      &R::bits,       &R::operations, &R::hardware};
  }
};

/// A row of the table of runners, generated from the runner's struct.
struct RunnerRow {
  std::string_view name, doc;
  RunnerKind kind;
  bool needs_labels;
  std::vector<FieldInfo> fields;
  std::span<const MetricDoc> metrics;
  /// The metrics that are reported after every epoch; empty if the runner does not train.
  std::span<const std::string_view> told;
  /// Reads the runner's table into its member.
  void (*read)(const Tree& table, Runners& runners, Diagnostics& diagnostics);
  bool (*is_given)(const Runners& runners);
  /// Makes the runner, which must be given. The bench must outlive it.
  std::unique_ptr<Runner> (*make)(const Runners& runners, const Bench& bench);

  bool trains() const { return !told.empty(); }
  bool delivers(std::string_view metric) const;
  std::string table() const;  ///< "sw_runner.basic_train"
};

const std::vector<RunnerRow>& runner_table();
/// The rows of the runners that are given.
std::vector<const RunnerRow*> given_rows(const Runners& runners);

}  // namespace mase::search
