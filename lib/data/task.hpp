// SPDX-License-Identifier: Apache-2.0
// Tasks: what a model does with a row of a data set, and the figures that measure it.
#pragma once

#include <string>
#include <vector>

namespace mase::data {

/// A task that users can name: one row of the table.
struct TaskRow {
  std::string name;
  std::vector<std::string> others;  ///< names that mean the same
  bool has_perplexity;              ///< perplexity says more than the share of right predictions
  /// Rows have labels, from which loss and accuracy are computed. A task without labels measures
  /// the distance of the outputs from those of the model in float.
  bool has_labels = true;
};

const std::vector<TaskRow>& task_table();
/// Finds a task by any of its names; Error(Fault::config) suggests the nearest one.
const TaskRow& find_task(const std::string& name);

/// "loss 0.5432, accuracy 81.20 %", with the perplexity between them if the task has one.
std::string figures_text(const TaskRow& task, double loss, double accuracy);

}  // namespace mase::data
