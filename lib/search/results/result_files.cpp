// SPDX-License-Identifier: Apache-2.0
// Writes the machine-readable files of a study: JSON, CSV and TensorBoard scalars.

#include <array>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/leftovers.hpp"
#include "base/text.hpp"
#include "base/writing_inside.hpp"
#include "report/event_file.hpp"
#include "report/table.hpp"
#include "search/results/result_rows.hpp"

namespace mase::search {
namespace fs = std::filesystem;
namespace {

using storage::Record;

/// In the order of the reference's data frame, which is alphabetical.
constexpr std::array<const char*, 4> own_attributes{"hardware_metrics", "sampled_config",
                                                    "scaled_metrics", "software_metrics"};

Tree attribute(const Record& record, std::string_view name) {
  const Tree* found = record.user.find(name);
  return found ? *found : Tree();
}

Tree optional_tree(const std::optional<std::int64_t>& value) {
  return value ? Tree(*value) : Tree();
}

void add_values(Tree& entry, const Record& record, std::size_t objectives) {
  const std::vector<double>& values = record.trial.values;
  for (std::size_t i = 0; i < objectives; ++i)
    entry[objectives == 1 ? "value" : "values_" + std::to_string(i)] =
        i < values.size() ? Tree(values[i]) : Tree();
}

void add_attributes(Tree& entry, const Record& record) {
  for (const char* name : own_attributes)
    entry[std::string("user_attrs_") + name] = attribute(record, name);
  for (const auto& [name, value] : record.user.as_dict()) entry["user_attrs_" + name] = value;
  for (const char* name : {"constraints", "fail_reason", storage::repeats_attribute})
    if (const Tree* found = record.trial.attributes.find(name))
      entry[std::string("system_attrs_") + name] = *found;
}

Tree log_entry(const Record& record, std::size_t objectives) {
  Tree entry = Tree::dict();
  entry["number"] = record.trial.number;
  add_values(entry, record, objectives);
  add_attributes(entry, record);
  entry["state"] = samplers::state_name(record.trial.state);
  entry["datetime_start"] = optional_tree(record.start);
  entry["datetime_complete"] = optional_tree(record.complete);
  entry["duration"] =
      record.start && record.complete ? Tree(*record.complete - *record.start) : Tree();
  return entry;
}

void add_scalars(report::EventFile& file, const Record& record) {
  const Tree* scaled = record.user.find("scaled_metrics");
  if (record.trial.state != samplers::TrialState::complete || !scaled || !scaled->is_dict()) return;
  for (const auto& [name, value] : scaled->as_dict())
    if (value.is_number()) file.scalar(name, record.trial.number, value.as_double());
}

bool is_event_file(const fs::path& path) {
  return path.filename().string().starts_with("events.out.tfevents.");
}

/// Writes an event file to a temporary place and then moves it. It contains the whole study and
/// replaces the files of earlier calls, which TensorBoard would otherwise show as well.
void write_events(const StudyResult& result, const fs::path& folder) {
  const fs::path place = place_to_write((folder / "tensorboard").string()),
                 aside = place.string() + temporary_suffix();
  fs::remove_all(aside);
  {
    report::EventFile file(aside.string());
    for (const Record& record : result.trials) add_scalars(file, record);
    file.flush();
  }
  make_folder(place.string());
  for (const fs::directory_entry& entry : fs::directory_iterator(place))
    if (is_event_file(entry.path())) fs::remove(entry.path());
  for (const fs::directory_entry& entry : fs::directory_iterator(aside))
    fs::rename(entry.path(), place / entry.path().filename());
  fs::remove_all(aside);
}

}  // namespace

Tree best_tree(const StudyResult& result) {
  Tree tree = Tree::dict();
  for (const std::size_t index : result.best()) {
    const Record& record = result.trials[index];
    Tree& entry = tree[std::to_string(tree.size())];
    entry["number"] = record.trial.number;
    entry["value"] = Tree::list_of(record.trial.values);
    for (const char* name :
         {"software_metrics", "hardware_metrics", "scaled_metrics", "sampled_config"})
      entry[name] = attribute(record, name);
  }
  return tree;
}

/// The text of log_tree, made trial by trial: a tree of all trials takes several times the memory.
std::string log_text(const StudyResult& result) {
  if (result.trials.empty()) return "{}\n";
  std::string text = "{";
  std::size_t count = 0;
  for (const Record& record : result.trials) {
    const Tree::Dict one{
        {std::to_string(count), log_entry(record, result.problem.directions.size())}};
    const std::string lines = to_json(Tree(one));  // "{", its lines, "}"
    text += (count++ == 0 ? "" : ",") + lines.substr(1, lines.size() - 3);
  }
  return text + "\n}\n";
}

Tree log_tree(const StudyResult& result) {
  Tree::Dict entries;
  for (const Record& record : result.trials)
    entries.emplace_back(std::to_string(entries.size()),
                         log_entry(record, result.problem.directions.size()));
  return entries;
}

std::string trials_csv(const StudyResult& result) {
  const TrialRows table = trial_rows(result, double_text, std::numeric_limits<std::size_t>::max());
  return report::csv(table.header, table.rows);
}

void write_report(const StudyResult& result, const std::string& folder) {
  write_file(folder + "/report.html", report_html(result));
}

void write_results(const StudyResult& result, const std::string& folder) {
  write_file(folder + "/best.json", to_json(best_tree(result)) + "\n");
  write_file(folder + "/log.json", log_text(result));
  write_file(folder + "/trials.csv", trials_csv(result));
  if (result.sensitivity.size() > 0) {
    const passes::ReportTable table = sensitivity_table(result, double_text);
    write_file(folder + "/sensitivity.csv", report::csv(table.header, table.rows));
  }
  write_report(result, folder);
  try {
    write_events(result, folder);
  } catch (const fs::filesystem_error& error) {
    file_error("cannot write the TensorBoard scalars of '" + folder +
               "': " + error.code().message());
  }
}

}  // namespace mase::search
