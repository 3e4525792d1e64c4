// SPDX-License-Identifier: Apache-2.0
// The table of tasks.
#include "data/task.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/metrics.hpp"

namespace mase::data {

const std::vector<TaskRow>& task_table() {
  static const std::vector<TaskRow> table{
      {"classification", {"cls"}, false},
      {"next_token", {"language_modeling", "lm"}, true},
      {"none", {}, false, false},
  };
  return table;
}

const TaskRow& find_task(const std::string& name) {
  std::vector<std::string> names;
  for (const TaskRow& row : task_table()) {
    if (row.name == name || std::ranges::find(row.others, name) != row.others.end()) return row;
    names.push_back(row.name);
  }
  config_error("unknown task '" + name + "'" +
               did_you_mean(name, names, "; known: " + join(names, ", ")));
}

std::string figures_text(const TaskRow& task, double loss, double accuracy) {
  return "loss " + fixed_text(loss, 4) +
         (task.has_perplexity ? ", perplexity " + fixed_text(perplexity(loss), 3) : "") +
         ", accuracy " + fixed_text(100 * accuracy, 2) + " %";
}

}  // namespace mase::data
