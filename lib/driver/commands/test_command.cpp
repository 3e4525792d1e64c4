// SPDX-License-Identifier: Apache-2.0
// `mase test` measures loss and accuracy of a model on a part of its data set, or the distance of
// its outputs from those in float, at any level from float to RTL.
#include <algorithm>
#include <optional>
#include <utility>

#include "backend/backend.hpp"
#include "base/cache_folder.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/task.hpp"
#include "driver/batch_lengths.hpp"
#include "driver/class_rows.hpp"
#include "driver/hardware.hpp"
#include "driver/ranks.hpp"
#include "driver/shared_runs.hpp"
#include "driver/test_levels.hpp"
#include "ir/train_mode.hpp"
#include "sandbox/policy.hpp"
#include "search/runners/basic_evaluation.hpp"

namespace mase::driver {
namespace {

std::string percent(double share) { return fixed_text(100 * share, 2) + " %"; }

passes::ReportTable class_table(const data::Scores& scores, const data::Dataset& dataset) {
  passes::ReportTable table{
      "Per class", {"Class", "Rows", "Predicted", "Correct", "Recall", "Precision"}, {}, ""};
  std::vector<ClassRow> rows;
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    const data::ClassCount& count = scores.classes[c];
    if (count.rows == 0 && count.predicted == 0) continue;  // a text uses about 70 of 256 bytes
    rows.push_back({count.rows,
                    {dataset.labels().class_names[c], std::to_string(count.rows),
                     std::to_string(count.predicted), std::to_string(count.correct),
                     percent(count.recall()), percent(count.precision())}});
  }
  add_class_rows(table, std::move(rows));
  return table;
}

/// The largest number of classes whose table fits on a terminal.
constexpr std::size_t most_columns = 20;

passes::ReportTable confusion_table(const data::Scores& scores, const data::Dataset& dataset) {
  passes::ReportTable table{
      "Confusion: a row per true class, a column per prediction", {""}, {}, ""};
  const std::size_t classes = scores.classes.size();
  for (std::size_t predicted = 0; predicted < classes; ++predicted)
    table.header.push_back(dataset.labels().class_names[predicted]);
  for (std::size_t actual = 0; actual < classes; ++actual) {
    std::vector<std::string> row{dataset.labels().class_names[actual]};
    for (std::size_t predicted = 0; predicted < classes; ++predicted) {
      const auto rows = scores.confusion.find({actual, predicted});
      row.push_back(rows == scores.confusion.end() ? "0" : std::to_string(rows->second));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Number of rows by true class and prediction, without zeros: {"g": {"g": 48, "w": 2}}.
Tree confusion_tree(const data::Scores& scores, const data::Dataset& dataset) {
  Tree out = Tree::dict();
  for (const auto& [pair, rows] : scores.confusion) {
    const bool known = pair.second < dataset.labels().class_names.size();
    const std::string predicted =
        known ? dataset.labels().class_names[pair.second] : std::to_string(pair.second);
    out[dataset.labels().class_names[pair.first]][predicted] = rows;
  }
  return out;
}

Tree scores_tree(const data::Scores& scores, const data::Dataset& dataset) {
  Tree out = Tree::dict();
  out["rows"] = scores.rows;
  out["correct"] = scores.correct;
  out["accuracy"] = scores.accuracy;
  out["macro_accuracy"] = scores.macro_accuracy;
  out["loss"] = scores.loss;
  if (data::find_task(dataset.labels().task).has_perplexity())
    out["perplexity"] = data::perplexity(scores.loss);
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    Tree& entry = out["classes"][dataset.labels().class_names[c]];
    entry["rows"] = scores.classes[c].rows;
    entry["predicted"] = scores.classes[c].predicted;
    entry["correct"] = scores.classes[c].correct;
  }
  out["confusion"] = confusion_tree(scores, dataset);
  return out;
}

/// A one-line summary of the scores.
std::string summary(const data::Scores& scores, const data::Dataset& dataset, bool macro) {
  const bool has_perplexity = data::find_task(dataset.labels().task).has_perplexity();
  return (has_perplexity ? "perplexity " + fixed_text(data::perplexity(scores.loss), 3) + ", "
                         : "") +
         "accuracy " + percent(scores.accuracy) + " (" + std::to_string(scores.correct) + " of " +
         std::to_string(scores.rows) + "), loss " + fixed_text(scores.loss, 4) +
         (macro ? ", macro accuracy " + percent(scores.macro_accuracy) : "");
}

/// The scores of a model at one level.
struct Found {
  std::string level;
  data::Scores scores;
};

/// The figures of the task, and recall and precision of every class.
Tree score_figures(const data::Scores& scores, const data::Target& labels) {
  Tree tree = Tree::dict();
  tree[data::figures::loss.name] = scores.loss;
  tree[data::figures::accuracy.name] = scores.accuracy;
  tree[data::figures::macro_accuracy.name] = scores.macro_accuracy;
  if (data::find_task(labels.task).has_perplexity())
    tree[data::figures::perplexity.name] = data::perplexity(scores.loss);
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    tree[labels.class_names[c] + ".recall"] = scores.classes[c].recall();
    tree[labels.class_names[c] + ".precision"] = scores.classes[c].precision();
  }
  return tree;
}

/// Scores the model at every requested level.
std::vector<LevelFound> scores_of(const Session& session, const TestRequest& request,
                                  const ir::Graph& graph, const data::Dataset& dataset,
                                  std::vector<Found>& found) {
  return for_each_level(session, request, graph,
                        [&](const std::string& level, ir::Evaluator& evaluator, data::Part part,
                            const EvaluateOptions& options) {
                          found.push_back({level, evaluate(evaluator, dataset, part, options)});
                          return score_figures(found.back().scores, dataset.labels());
                        });
}

/// The figures that `mase test` prints of a data set, as test_bounds takes them.
std::vector<std::string> printed_figures(const data::Dataset& dataset) {
  std::vector<std::string> names;
  if (!dataset.has_labels()) {
    names = distance_figures();
    for (const std::string& name : distance_figures()) names.push_back("*." + name);
    return names;
  }
  const Tree figures = search::figures_tree(data::Scorers(dataset.targets).figures());
  for (const auto& [name, value] : figures.as_dict()) names.push_back(name);
  if (data::counts_classes(dataset)) names.insert(names.end(), {"*.recall", "*.precision"});
  return names;
}

/// The number of rows for which two evaluations predict different classes.
std::size_t moved_rows(const data::Scores& a, const data::Scores& b) {
  std::size_t moved = 0;
  for (std::size_t row = 0; row < a.predicted.size(); ++row)
    moved += a.predicted[row] != b.predicted[row];
  return moved;
}

/// A table with a row per level, each compared with the row above.
passes::ReportTable level_table(const std::vector<Found>& found, const data::Dataset& dataset) {
  const bool has_perplexity = data::find_task(dataset.labels().task).has_perplexity();
  passes::ReportTable table{"Levels", {"Level", "Rows", "Correct", "Accuracy", "Loss"}, {}, ""};
  if (has_perplexity) table.header.push_back("Perplexity");
  table.header.push_back("Predictions unlike the row above");
  for (std::size_t i = 0; i < found.size(); ++i) {
    const data::Scores& scores = found[i].scores;
    std::vector<std::string> row{found[i].level, std::to_string(scores.rows),
                                 std::to_string(scores.correct), percent(scores.accuracy),
                                 fixed_text(scores.loss, 4)};
    if (has_perplexity) row.push_back(fixed_text(data::perplexity(scores.loss), 3));
    row.push_back(i == 0 ? "" : std::to_string(moved_rows(found[i - 1].scores, scores)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void print_one(Output& output, const Found& found, const data::Dataset& dataset,
               const TestRequest& request) {
  output.table(class_table(found.scores, dataset));
  if (found.scores.classes.size() <= most_columns)
    output.table(confusion_table(found.scores, dataset));
  output.text(request.split + " (" + found.level +
              "): " + summary(found.scores, dataset, request.macro));
  output.document()["level"] = found.level;
  output.document()["scores"] = scores_tree(found.scores, dataset);
}

void print_all(Output& output, const std::vector<Found>& found, const data::Dataset& dataset) {
  output.table(level_table(found, dataset));
  for (const Found& one : found)
    output.document()["levels"][one.level] = scores_tree(one.scores, dataset);
}

/// Allows writing the record to an existing project, building hardware to simulate it, and running
/// the programs of metrics.
void name_rights(const Session& session, const TestRequest& request) {
  const Settings& settings = session.settings();
  if (file_exists(project_folder(settings))) work_in_project(settings);
  if (!metric_programs(session.configuration).empty()) sandbox::may_run_any_program();
  const auto& levels = request.levels;
  if (std::find(levels.begin(), levels.end(), "rtl") == levels.end()) return;
  cache_folder();  // must exist before it can be allowed
  sandbox::may_run_programs();
  sandbox::may_write(hardware_folder(settings, request.hardware));
}

/// Refuses the option of the other kind of task.
void check_goals(const TestRequest& request, bool has_labels,
                 const std::vector<std::string>& figures) {
  if (request.min_accuracy && !has_labels)
    config_error("--min-accuracy needs labels; without them, --min-sqnr DB sets a goal");
  if (request.min_accuracy && std::ranges::count(figures, "accuracy") == 0)
    config_error("--min-accuracy: there is no figure 'accuracy'; the figures are " +
                 join(figures, ", ") + ", which --require 'FIGURE <= X' bounds");
  if (request.min_sqnr && has_labels)
    config_error("--min-sqnr compares outputs with those in float; give --task none as well");
}

constexpr const char* test_again = "run the command again";

/// Meets the processes that share the batches of this test.
void share_test(Session& session, const TestRequest& request, const ir::Graph& graph,
                const backend::Ranks& ranks) {
  if (std::ranges::count(request.levels, "rtl") > 0)
    config_error("level rtl simulates one frame after another in one process; leave it out of " +
                 std::string("--level, or --nproc and the launcher out of the command"));
  if (ir::draws_always(graph))
    config_error(
        "the model draws random numbers in eval mode, which several processes do not share; run "
        "the command in one process");
  Tree settings = Tree::dict();
  settings["--level"] = Tree::list_of(request.levels);
  settings["--split"] = request.split;
  settings["--rows"] = request.rows ? Tree(*request.rows) : Tree();
  settings["batch_size"] = session.settings().train.batch_size;
  settings["to_debug"] = session.settings().general.to_debug;
  session.companions = backend::open().meet(ranks);
  check_agreement(*session.companions, settings, graph, require_dataset(session).sha256);
}

}  // namespace

int test(const TestRequest& request) {
  if (request.nproc > 1 && !launched_here()) return launch_ranks(request.nproc, test_again);
  backend::Ranks ranks = ranks_of_environment(request.timeout);
  ranks.after_loss = test_again;
  if (ranks.several()) sandbox::may_meet_processes();
  Session session = open_session(request, Project::of_model, DataSource::of_model);
  const data::Dataset& dataset = require_dataset(session);
  const bool has_labels = dataset.has_labels();
  const std::vector<std::string> figures = printed_figures(dataset);
  check_goals(request, has_labels, figures);
  if (ranks.rank == 0)
    name_rights(session, request);
  else
    log::set_level(log::Level::error);
  const LoadedModel model = load_session_model(session, {});
  for (const std::string& level : request.levels)
    if (session.settings().train.group_by_length && level != "float" && level != "quantized")
      config_error("group_by_length: at level " + level +
                   " the model takes rows of one length; leave it out (--group-by-length false)");
  group_batches_by_length(session, model.graph);
  const auto bounds =
      test_bounds(request, figures, session.configuration.metrics, has_formats(model.graph));
  if (ranks.several()) share_test(session, request, model.graph, ranks);
  if (ranks.rank > 0) return help_to_test(session, request, model.graph, dataset);
  if (model.untrained)
    log::warning(
        "the model has random weights; load trained ones with --load FILE (`mase train` writes "
        "best.pt)");
  if (!has_labels) return test_distance(session, request, model.graph, dataset, bounds);
  if (!data::counts_classes(dataset))
    return test_figures(session, request, model.graph, dataset, bounds);
  std::vector<Found> found;
  const std::vector<LevelFound> levels = scores_of(session, request, model.graph, dataset, found);
  session.output.document()["split"] = request.split;
  if (found.size() == 1)
    print_one(session.output, found.front(), dataset, request);
  else
    print_all(session.output, found, dataset);
  return finish_test(session, request, levels, bounds);
}

}  // namespace mase::driver
