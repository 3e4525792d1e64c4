// SPDX-License-Identifier: Apache-2.0
// `mase study` shows what a database of studies contains. Reading needs no permission to write.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/commands/commands.hpp"
#include "driver/output.hpp"
#include "driver/store/stored_points.hpp"
#include "report/table.hpp"
#include "search/samplers/pareto.hpp"
#include "search/storage/encode.hpp"
#include "search/storage/storage.hpp"

namespace mase::driver {
namespace {

using storage::Record;
using storage::Storage;
using storage::Study;

std::string directions_text(const Study& study) {
  return join(storage::direction_words(study.directions), ", ");
}

std::map<std::string, std::int64_t> states_of(const std::vector<Record>& trials) {
  std::map<std::string, std::int64_t> counts;
  for (const Record& record : trials)
    ++counts[lower_case(samplers::state_name(record.trial.state))];
  return counts;
}

std::string states_text(const std::vector<Record>& trials) {
  std::vector<std::string> words;
  for (const auto& [state, count] : states_of(trials))
    words.push_back(std::to_string(count) + " " + state);
  return join(words, ", ");
}

/// The best trials as a search determines them, in the order of their numbers.
std::vector<const Record*> best_of(const Study& study, const std::vector<Record>& trials) {
  std::vector<samplers::Trial> plain;
  for (const Record& record : trials) plain.push_back(samplers::without_attributes(record.trial));
  std::vector<const Record*> best;
  for (const std::size_t index : samplers::best_trials(plain, study.directions))
    best.push_back(&trials[index]);
  return best;
}

/// Maximum number of studies to name in a message, and to list.
constexpr std::int64_t most_named = 20, most_listed = 10000;

/// The study of this name, or the only study.
Study chosen(Storage& database, const std::optional<std::string>& name) {
  if (name)
    if (const auto study = database.find_study(*name)) return *study;
  const std::vector<Study> studies = database.studies(most_named + 1);
  const bool all = std::ssize(studies) <= most_named;
  std::vector<std::string> names;
  for (const Study& study : studies) names.push_back(study.name);
  if (!all) names.back() = "...";
  if (!name && studies.size() == 1) return studies.front();
  if (!name)
    config_error(
        database.name() + " has " +
        (all ? std::to_string(studies.size()) : "more than " + std::to_string(most_named)) +
        " studies; name one: " + join(names, ", "));
  config_error(database.name() + ": there is no study '" + *name + "'" +
               did_you_mean(*name, names, "; studies: " + join(names, ", ")));
}

/// Names of the objectives, as a search or Optuna's set_metric_names stored them, or numbers.
std::vector<std::string> goal_names(const Study& study) {
  const std::size_t goals = study.directions.size();
  const Tree* stored = study.system.find("study:metric_names");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < goals; ++i) {
    const bool named = stored && stored->is_list() && stored->size() == goals;
    const std::string number = goals == 1 ? "value" : "values_" + std::to_string(i);
    const Tree name = named ? stored->as_list()[i] : Tree();
    names.push_back(name.is_string() ? name.as_string() : number);
  }
  return names;
}

std::string parameter_text(const Record& record, const std::string& name) {
  const auto value = record.trial.params.find(name);
  const auto distribution = record.distributions.find(name);
  if (value == record.trial.params.end() || distribution == record.distributions.end()) return "";
  const Tree external = samplers::external_value(*distribution->second, value->second);
  return external.is_string() ? external.as_string() : to_json(external, -1);
}

std::vector<std::string> parameters_of(const std::vector<const Record*>& trials) {
  std::set<std::string> names;
  for (const Record* record : trials)
    for (const auto& [name, value] : record->trial.params) names.insert(name);
  return {names.begin(), names.end()};
}

/// A table with number, state, values and parameters of trials.
passes::ReportTable trials_table(const Study& study, const std::vector<const Record*>& trials) {
  passes::ReportTable table{"", {"number", "state"}, {}, ""};
  const std::size_t goals = study.directions.size();
  for (const std::string& name : goal_names(study)) table.header.push_back(name);
  const std::vector<std::string> names = parameters_of(trials);
  table.header.insert(table.header.end(), names.begin(), names.end());
  for (const Record* record : trials) {
    std::vector<std::string> row{std::to_string(record->trial.number),
                                 lower_case(samplers::state_name(record->trial.state))};
    for (std::size_t i = 0; i < goals; ++i)
      row.push_back(i < record->trial.values.size() ? double_text(record->trial.values[i]) : "");
    for (const std::string& name : names) row.push_back(parameter_text(*record, name));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Tree rows_tree(const passes::ReportTable& table) {
  Tree rows = Tree::list();
  for (const auto& row : table.rows) {
    Tree entry = Tree::dict();
    for (std::size_t i = 0; i < row.size(); ++i) entry[table.header[i]] = row[i];
    rows.push_back(std::move(entry));
  }
  return rows;
}

std::vector<const Record*> pointers(const std::vector<Record>& trials) {
  std::vector<const Record*> all;
  for (const Record& record : trials) all.push_back(&record);
  return all;
}

int list_studies(Storage& database, Output& output) {
  passes::ReportTable table{"Studies", {"Study", "Directions", "Trials", "Best"}, {}, ""};
  output.document()["studies"] = Tree::list();
  std::vector<Study> studies = database.studies(most_listed + 1);
  const bool all = std::ssize(studies) <= most_listed;
  if (!all) studies.pop_back();
  for (const Study& study : studies) {
    const std::vector<Record>& trials = database.trials(study);
    const std::vector<const Record*> best = best_of(study, trials);
    std::string text = std::to_string(best.size()) + " on the front";
    if (best.empty()) text = "-";
    if (study.directions.size() == 1 && !best.empty())
      text = double_text(best.front()->trial.values.front());
    table.rows.push_back({study.name, directions_text(study), states_text(trials), text});
    Tree entry = Tree::dict();
    entry["name"] = study.name;
    entry["directions"] = directions_text(study);
    for (const auto& [state, count] : states_of(trials)) entry["trials"][state] = count;
    output.document()["studies"].push_back(std::move(entry));
    database.forget(study);
  }
  output.table(table);
  if (!all)
    output.text("only the first " + std::to_string(most_listed) +
                " studies are listed; `mase study show NAME` shows any");
  output.finish();
  return 0;
}

int show_study(Storage& database, const StudyRequest& request, Output& output) {
  const Study study = chosen(database, request.name);
  const std::vector<Record>& trials = database.trials(study);
  std::vector<const Record*> best = best_of(study, trials);
  const std::size_t count = best.size();
  best.resize(std::min(count, static_cast<std::size_t>(request.most)));
  passes::ReportTable table = trials_table(study, best);
  table.title = study.name + ": " + directions_text(study) + "; " + states_text(trials) + "; " +
                (count == 0 ? "none is best yet" : std::to_string(count) + " best");
  output.document()["name"] = study.name;
  output.document()["directions"] = directions_text(study);
  output.document()["best"] = rows_tree(table);
  output.table(table);
  if (best.size() < count)
    output.text("only " + std::to_string(best.size()) + " of them are shown; --most N shows more");
  output.finish();
  return 0;
}

/// The best points of a study in a store, with their addresses.
int show_stored_study(const StudyRequest& request, Output& output) {
  const Store store(request.storage);
  const StoredStudy study = stored_study(store);
  if (request.name && *request.name != study.name)
    config_error(store.address() + " has the study '" + study.name + "', not '" + *request.name +
                 "'");
  const std::vector<StoredPoint> best = best_stored_points(store, study);
  passes::ReportTable table{
      study.name + ": " + join(study.directions, ", ") + "; " +
          (best.empty() ? "none is best yet" : std::to_string(best.size()) + " best"),
      {"number"},
      {},
      ""};
  table.header.insert(table.header.end(), study.objectives.begin(), study.objectives.end());
  table.header.emplace_back("address");
  for (const StoredPoint& point : best) {
    std::vector<std::string> row{std::to_string(point.number)};
    for (const double value : point.values) row.push_back(double_text(value));
    row.push_back(point.address);
    table.rows.push_back(std::move(row));
  }
  output.document()["name"] = study.name;
  output.document()["directions"] = join(study.directions, ", ");
  output.document()["best"] = rows_tree(table);
  output.table(table);
  output.finish();
  return 0;
}

int study_in_store(const StudyRequest& request, Output& output) {
  if (request.action == StudyAction::show) return show_stored_study(request, output);
  config_error("a store has the best points of a study, which `mase study show` shows; the study " +
               std::string("itself is in a database (--storage)"));
}

/// The files of an SQLite database. A server has none.
std::vector<std::string> database_files(const std::string& url) {
  constexpr std::string_view scheme = "sqlite:///";
  const std::string file = url.starts_with(scheme) ? url.substr(scheme.size()) : url;
  return {file, file + "-journal", file + "-wal", file + "-shm"};
}

/// Writes all trials as CSV, or as JSON if the file has that extension.
int write_study(Storage& database, const StudyRequest& request, Output& output) {
  const Study study = chosen(database, request.name);
  const passes::ReportTable table = trials_table(study, pointers(database.trials(study)));
  const std::string path = request.output.value_or("");
  const bool json = std::filesystem::path(path).extension() == ".json";
  const std::string text =
      json ? to_json(rows_tree(table)) + "\n" : report::csv(table.header, table.rows);
  if (path.empty()) {
    Output(false).text(text);
    return 0;
  }
  if (!request.overwrite) keep_inputs({path}, database_files(request.storage));
  write_file(path, text);
  output.text(path + ": " + std::to_string(table.rows.size()) + " trials of " + study.name);
  output.document()["file"] = path;
  output.finish();
  return 0;
}

int remove_study(const StudyRequest& request, Output& output) {
  if (!request.name) config_error("give the name of the study to delete");
  const Study study = chosen(*storage::view_storage(request.storage), request.name);
  const auto database = storage::open_storage(request.storage);
  const std::size_t trials = database->trials(study).size();
  database->delete_study(study);
  output.text("deleted " + study.name + " with " + std::to_string(trials) + " trials");
  output.document()["deleted"] = study.name;
  output.finish();
  return 0;
}

}  // namespace

int study(const StudyRequest& request) {
  Output output(request.json);
  if (names_store(request.storage)) return study_in_store(request, output);
  if (request.action == StudyAction::remove) return remove_study(request, output);
  const auto database = storage::view_storage(request.storage);
  if (request.action == StudyAction::show) return show_study(*database, request, output);
  if (request.action == StudyAction::write) return write_study(*database, request, output);
  return list_studies(*database, output);
}

}  // namespace mase::driver
