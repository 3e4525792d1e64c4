// SPDX-License-Identifier: Apache-2.0
// `mase test` of tasks whose predictions cannot be counted by class, and of several outputs.
#include "driver/test_levels.hpp"
#include "search/runners/basic_evaluation.hpp"

namespace mase::driver {
namespace {

/// The figures of a model at one level.
struct FoundFigures {
  std::string level;
  data::Figures figures;
};

/// A table of one target: a row per level, a column per figure.
passes::ReportTable target_table(const data::Target& target, std::size_t first,
                                 const std::vector<FoundFigures>& found) {
  const std::vector<data::FigureRow>& rows = data::find_task(target.task).figures;
  const std::string output = target.output().empty() ? "" : "Output " + target.output() + ": ";
  passes::ReportTable table{output + target.task, {"Level", "Rows"}, {}, ""};
  for (const data::FigureRow& row : rows) table.header.emplace_back(row.name);
  for (const auto& [level, figures] : found) {
    std::vector<std::string> cells{level, std::to_string(figures.rows)};
    for (std::size_t i = 0; i < rows.size(); ++i) cells.push_back(figures.all[first + i].text());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void print_figures(Output& output, const data::Dataset& dataset,
                   const std::vector<FoundFigures>& found) {
  std::size_t first = 0;
  for (const data::Target& target : dataset.targets) {
    output.table(target_table(target, first, found));
    first += data::find_task(target.task).figures.size();
  }
  for (const auto& [level, figures] : found) {
    Tree& entry = output.document()["levels"][level];
    entry["rows"] = figures.rows;
    entry["loss"] = figures.loss;
    for (const data::Figure& figure : figures.all) entry["figures"][figure.name] = figure.value;
  }
}

}  // namespace

int test_figures(Session& session, const TestRequest& request, const ir::Graph& graph,
                 const data::Dataset& dataset, const std::vector<TestBound>& bounds) {
  std::vector<FoundFigures> found;
  const std::vector<LevelFound> levels = for_each_level(
      session, request, graph,
      [&](const std::string& level, ir::Evaluator& evaluator, data::Part part,
          const EvaluateOptions& options) {
        found.push_back({level, measure_targets(evaluator, dataset, part, options).figures});
        return search::figures_tree(found.back().figures);
      });
  session.output.document()["split"] = request.split;
  print_figures(session.output, dataset, found);
  return finish_test(session, request, levels, bounds);
}

}  // namespace mase::driver
