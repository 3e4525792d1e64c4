// SPDX-License-Identifier: Apache-2.0
// Writes the folders of the best trials, and measures them on rows that the search has not seen.
#include "driver/search_points.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/evaluate.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/metric_programs.hpp"
#include "driver/save_checkpoint.hpp"
#include "search/results/result_rows.hpp"
#include "search/runners/basic_evaluation.hpp"

namespace mase::driver {
namespace {

using storage::Record;

/// Whether a trial, possibly from another program, has a value for every parameter of the space.
bool covers(const samplers::Space& space, const samplers::Params& params) {
  return std::all_of(space.begin(), space.end(), [&](const samplers::Dimension& dimension) {
    if (!samplers::is_active(dimension, params)) return true;
    const auto found = params.find(dimension.name);
    return found != params.end() && samplers::contains(dimension.distribution, found->second);
  });
}

/// Compares with a second measurement, to make sure that the folder has the reported values.
void check_values(const search::Options& options, const Record& record,
                  const search::Measured& again) {
  const std::vector<double> values = options.values_of(again);
  if (values == record.trial.values) return;
  std::vector<std::string> here, there;
  for (const double value : values) here.push_back(double_text(value));
  for (const double value : record.trial.values) there.push_back(double_text(value));
  log::warning("trial " + std::to_string(record.trial.number) + " measures " + join(here, ", ") +
               " here, but " + join(there, ", ") + " where it ran");
}

std::string folder_of(const std::string& folder, const Record& record) {
  return folder + "/best/trial_" + std::to_string(record.trial.number);
}

std::string checkpoint_in(const std::string& point) { return point + "/graph_module.pt"; }

void write_point(const SearchTask& task, const Session& session, const Record& record,
                 const std::string& folder, const GetCheckpoint& get) {
  const std::string checkpoint = checkpoint_in(folder);
  if (file_exists(checkpoint)) return;
  const auto copy = get ? get(record) : std::nullopt;
  ir::Graph made;
  if (!copy)
    check_values(task.options(), record,
                 task.measure(
                     record.trial.params, [](std::int64_t, double) {}, &made));
  make_folder(folder);
  const std::string toml = task.transform_toml(record.trial.params, checkpoint);
  write_file(folder + "/transform.toml", toml);
  if (copy)
    copy_checkpoint(*copy, checkpoint);
  else
    save_checkpoint(made, checkpoint, checkpoint_info(session, toml));
}

}  // namespace

std::vector<std::string> write_points(const SearchTask& task, const Session& session,
                                      const search::StudyResult& result, const std::string& folder,
                                      const GetCheckpoint& get) {
  std::vector<std::string> folders;
  for (const std::size_t index : result.best()) {
    const Record& record = result.trials[index];
    if (!covers(task.space().dimensions(), record.trial.params)) {
      log::warning("trial " + std::to_string(record.trial.number) +
                   " has parameters from another space and gets no folder");
      continue;
    }
    folders.push_back(folder_of(folder, record));
    write_point(task, session, record, folders.back(), get);
  }
  return folders;
}

namespace {

/// The test rows, or null if the search used them or measures nothing on rows.
const data::Dataset* unseen_rows(const SearchTask& task, const Session& session) {
  const search::BasicEvaluation* rows = task.evaluated_rows();
  const bool seen = !rows || rows->data_loader == "test_dataloader" || !session.dataset;
  return seen || session.dataset->rows(data::Part::test).empty() ? nullptr : &*session.dataset;
}

data::RowScores score(const ir::Graph& graph, ir::Level level, const data::Dataset& dataset) {
  return measure_targets(*make_evaluator()(graph, level), dataset, data::Part::test, {});
}

/// The scores of a trial's model, and what the programs of [metrics] measure.
struct UnseenScores {
  data::RowScores scores;
  Tree own;
};

UnseenScores score_trial(const ir::Graph& graph, const data::Dataset& dataset,
                         const MetricPrograms& programs) {
  UnseenScores found;
  const auto evaluator = make_evaluator()(graph, ir::Level::quantized);
  found.own = measure_with_programs(programs, dataset, data::Part::test, {}, *evaluator,
                                    [&](ir::Evaluator& recorded, const EvaluateOptions& options) {
                                      found.scores = measure_targets(recorded, dataset,
                                                                     data::Part::test, options);
                                    });
  return found;
}

std::string share_in_percent(double share) { return fixed_text(100 * share, 2); }

std::string interval_text(const std::vector<std::uint8_t>& hits) {
  const auto [low, high] =
      data::wilson_interval(std::ranges::count(hits, 1), static_cast<std::int64_t>(hits.size()));
  return share_in_percent(low) + " to " + share_in_percent(high) + " %";
}

/// The metrics of a model on these rows, by name.
Tree unseen_metrics(const UnseenScores& found, const data::RowScores& baseline) {
  const data::RowScores& scores = found.scores;
  Tree tree = search::figures_tree(scores.figures);
  for (const auto& [name, value] : found.own.as_dict()) tree[name] = value;
  if (scores.hits.empty()) return tree;
  const double before = baseline.figures.find("accuracy")->value;
  tree["accuracy_drop"] = search::accuracy_drop(before, tree.at("accuracy").as_double(),
                                                static_cast<std::int64_t>(scores.hits.size()));
  tree["accuracy_drop_bound"] = search::accuracy_drop_bound(baseline.hits, scores.hits);
  return tree;
}

/// "kept", or the value that violates the bound; "-" for metrics that do not depend on rows.
std::string kept_text(const search::Constraint& constraint, const Tree& metrics) {
  const Tree* value = metrics.find(constraint.metric);
  if (!value) return "-";
  return constraint.excess(value->as_double()) <= 0
             ? "kept"
             : "missed: " + search::short_number(value->as_double());
}

/// The table of results on the test rows, and its part of the JSON document. Models that classify
/// get their accuracy and its interval, others the brief figures of their task.
class Confirmation {
 public:
  Confirmation(const search::Options& options, const data::RowScores& baseline)
      : options_(options), baseline_(baseline), classifies_(!baseline.hits.empty()) {
    table_.title = "On the " + std::to_string(baseline.figures.rows) +
                   " test rows, which the search did not see (float model: " +
                   (classifies_ ? baseline.figures.find("accuracy")->text()
                                : data::figures_text(baseline.figures.all)) +
                   ")";
    table_.header = {"Trial"};
    if (classifies_)
      for (const char* name : {"accuracy", "95 % interval", "accuracy_drop"})
        table_.header.emplace_back(name);
    else
      for (const data::Figure& figure : baseline.figures.all)
        if (figure.row->is_brief) table_.header.push_back(figure.name);
    for (const search::Constraint& constraint : options.constraints)
      table_.header.push_back(constraint.text());
  }

  void add(std::int64_t number, const UnseenScores& found) {
    const Tree metrics = unseen_metrics(found, baseline_);
    const data::RowScores& scores = found.scores;
    std::vector<std::string> row{std::to_string(number)};
    if (classifies_)
      for (const std::string& cell :
           {scores.figures.find("accuracy")->text(), interval_text(scores.hits),
            fixed_text(metrics.at("accuracy_drop").as_double(), 2)})
        row.push_back(cell);
    else
      for (const data::Figure& figure : scores.figures.all)
        if (figure.row->is_brief) row.push_back(figure.text());
    for (const search::Constraint& constraint : options_.constraints)
      row.push_back(kept_text(constraint, metrics));
    table_.rows.push_back(std::move(row));
    document_[std::to_string(number)] = metrics;
  }

  void print(Output& output) const {
    output.table(table_);
    output.document()["test"] = document_;
  }
  const passes::ReportTable& table() const { return table_; }

 private:
  const search::Options& options_;
  const data::RowScores& baseline_;
  bool classifies_;
  passes::ReportTable table_;
  Tree document_ = Tree::dict();
};

}  // namespace

void confirm_points(const SearchTask& task, const Session& session, search::StudyResult& result,
                    const std::string& folder, Output& output) {
  const data::Dataset* dataset = unseen_rows(task, session);
  const auto most = static_cast<std::size_t>(task.options().setup.confirm);
  if (!dataset || most == 0 || result.best().empty()) return;
  const data::RowScores baseline = score(task.graph(), ir::Level::floating, *dataset);
  Confirmation confirmation(task.options(), baseline);
  std::size_t confirmed = 0;
  for (const std::size_t index : search::leading_trials(result)) {
    const Record& record = result.trials[index];
    const std::string checkpoint = checkpoint_in(folder_of(folder, record));
    if (confirmed == most || interrupt_flag()) break;
    if (!file_exists(checkpoint)) continue;
    const ir::Graph graph = load_checkpoint(checkpoint).graph;
    confirmation.add(record.trial.number,
                     score_trial(graph, *dataset, task.options().needed_programs()));
    ++confirmed;
  }
  if (confirmed == 0) return;
  confirmation.print(output);
  result.confirmed = confirmation.table();
}

void read_leading_bits(search::StudyResult& result, const std::string& folder) {
  const std::vector<std::size_t> leading = search::leading_trials(result);
  if (leading.empty()) return;
  const std::string checkpoint = checkpoint_in(folder_of(folder, result.trials[leading.front()]));
  if (file_exists(checkpoint))
    result.leading_bits = search::port_bits(load_checkpoint(checkpoint).graph);
}

}  // namespace mase::driver
