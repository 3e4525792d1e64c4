// SPDX-License-Identifier: Apache-2.0
// History, Pareto front, importance and choices of a study as charts.
#include "search/results/report_charts.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/chart.hpp"
#include "report/html_page.hpp"
#include "search/results/result_rows.hpp"
#include "search/results/trial_marks.hpp"
#include "search/samplers/importance.hpp"

namespace mase::search {
namespace {

using report::axis_over;
using report::Bar;
using report::bar_chart;
using report::Chart;
using report::heat_map;
using report::HeatCell;
using report::HeatMap;
using report::html_figure;
using report::html_key;
using report::Mark;
using samplers::TrialState;
using storage::Record;

constexpr std::size_t most_pair_objectives = 3, most_bars = 20, most_heat_rows = 40;
/// With fewer trials, importance would depend more on chance than on the parameters.
constexpr std::size_t least_for_importance = 20;
constexpr const char* no_trials = "<p>No completed trial yet.</p>\n";

/// Puts figures next to each other, as many as fit on the page.
std::string side_by_side(const std::string& figures) {
  return "<div class=\"figures\">" + figures + "</div>\n";
}

std::string legend(const std::string& keys) { return "<p class=\"legend\">" + keys + "</p>\n"; }

/// The completed trials as marks: feasible ones, feasible ones that repeat an earlier trial, and
/// infeasible ones.
struct Marks {
  std::vector<Mark> feasible, repeated, infeasible;

  void add(const Record& record, Mark mark) {
    std::vector<Mark>& kept = repeats_earlier(record) ? repeated : feasible;
    (record.trial.violation <= 0 ? kept : infeasible).push_back(std::move(mark));
  }
  std::vector<double> values(double Mark::*axis) const {
    std::vector<double> out;
    for (const auto* marks : {&feasible, &repeated, &infeasible})
      for (const Mark& mark : *marks) out.push_back(mark.*axis);
    return out;
  }
};

Marks history_marks(const StudyResult& result, const Objective& objective, std::size_t index) {
  Marks marks;
  for (const Record& record : result.trials) {
    const auto value = objective_value(record, objective, index);
    if (record.trial.state != TrialState::complete || !value) continue;
    marks.add(record, {static_cast<double>(record.trial.number), *value,
                       trial_title(record, short_number(*value))});
  }
  return marks;
}

/// The corners of the best-so-far line, which extends to the last trial.
std::vector<Mark> best_so_far(const std::vector<Mark>& marks, Direction better, double last) {
  std::vector<Mark> line;
  for (const Mark& mark : marks) {
    if (!std::isfinite(mark.y)) continue;
    const bool first = line.empty();
    if (first || (better == Direction::maximize ? mark.y > line.back().y : mark.y < line.back().y))
      line.push_back({mark.x, mark.y, ""});
  }
  if (!line.empty()) line.push_back({last, line.back().y, ""});
  return line;
}

std::vector<double> lost_trials(const StudyResult& result) {
  std::vector<double> numbers;
  for (const Record& record : result.trials)
    if (record.trial.state == TrialState::fail || record.trial.state == TrialState::pruned)
      numbers.push_back(static_cast<double>(record.trial.number));
  return numbers;
}

std::string history_figure(const StudyResult& result, const Objective& objective,
                           std::size_t index) {
  const Marks marks = history_marks(result, objective, index);
  if (marks.values(&Mark::x).empty()) return "";
  const auto last = static_cast<double>(result.trials.back().trial.number);
  const std::vector<double> range{0, std::max(last, 1.0)};
  Chart chart("history of " + objective.name, axis_over("trial", range, true),
              axis_over(objective.name, marks.values(&Mark::y)));
  chart.strokes("lost", lost_trials(result));
  chart.dots("infeasible", marks.infeasible);
  chart.dots("repeated", marks.repeated);
  chart.dots("feasible", marks.feasible);
  chart.steps("best", best_so_far(marks.feasible, objective.better, last));
  const std::string goal = objective.better == Direction::maximize ? "maximize" : "minimize";
  return html_figure(objective.name + " (" + goal + ")", chart.svg());
}

/// A pair of objectives to plot against each other, and their positions among the values.
struct Pair {
  const std::vector<Objective>& objectives;
  std::size_t x, y;

  std::optional<Mark> mark(const Record& record) const {
    const auto a = objective_value(record, objectives[x], x),
               b = objective_value(record, objectives[y], y);
    if (record.trial.state != TrialState::complete || !a || !b) return std::nullopt;
    return Mark{*a, *b, trial_title(record, short_number(*a) + ", " + short_number(*b))};
  }
};

std::vector<Mark> front_marks(const StudyResult& result, const Pair& pair) {
  std::vector<Mark> front;
  for (const std::size_t index : result.best())
    if (auto mark = pair.mark(result.trials[index])) front.push_back(std::move(*mark));
  std::stable_sort(front.begin(), front.end(),
                   [](const Mark& a, const Mark& b) { return a.x < b.x; });
  return front;
}

std::vector<Mark> float_model(const StudyResult& result, const Pair& pair) {
  const Tree *x = result.baseline.find(pair.objectives[pair.x].name),
             *y = result.baseline.find(pair.objectives[pair.y].name);
  if (!x || !y || !x->is_number() || !y->is_number()) return {};
  return {{x->as_double(), y->as_double(), "float model"}};
}

std::string pair_figure(const StudyResult& result, const Pair& pair) {
  const std::string &x = pair.objectives[pair.x].name, &y = pair.objectives[pair.y].name;
  Marks marks;
  for (const Record& record : result.trials)
    if (auto mark = pair.mark(record)) marks.add(record, std::move(*mark));
  const std::vector<Mark> front = front_marks(result, pair);
  Chart chart(y + " against " + x, axis_over(x, marks.values(&Mark::x)),
              axis_over(y, marks.values(&Mark::y)));
  chart.dots("infeasible", marks.infeasible);
  chart.dots("feasible", marks.feasible);
  // With more objectives the front is a surface, which no line through a projection shows.
  if (pair.objectives.size() == 2)
    chart.steps("best", front, pair.objectives[pair.x].better == Direction::minimize);
  chart.dots("best", front);
  chart.dots("baseline", float_model(result, pair));
  return html_figure(y + " against " + x, chart.svg());
}

std::size_t complete_count(const StudyResult& result) {
  return static_cast<std::size_t>(std::count_if(
      result.trials.begin(), result.trials.end(),
      [](const Record& record) { return record.trial.state == TrialState::complete; }));
}

bool any_repeated(const StudyResult& result) {
  return std::any_of(result.trials.begin(), result.trials.end(), repeats_earlier);
}

bool any_complete(const StudyResult& result) { return result.nearest_to_feasible().has_value(); }

std::string importance_figure(const StudyResult& result, std::span<const samplers::Trial> trials,
                              const Objective& objective, std::size_t index) {
  const auto shares = samplers::importance(result.problem, trials, index);
  std::vector<Bar> bars;
  double sum = 0;
  for (const samplers::Dimension& dimension : result.problem.space)
    if (const auto share = shares.find(dimension.name); share != shares.end()) {
      bars.push_back({dimension_label(dimension.name), share->second});
      sum += share->second;
    }
  if (!(sum > 0)) return "";
  std::stable_sort(bars.begin(), bars.end(),
                   [](const Bar& a, const Bar& b) { return a.value > b.value; });
  bars.resize(std::min(bars.size(), most_bars));
  return html_figure(objective.name, bar_chart("importance for " + objective.name, bars));
}

HeatCell heat_cell(const StudyResult& result, const Record& record,
                   const samplers::Dimension& dimension) {
  const auto found = record.trial.params.find(dimension.name);
  if (found == record.trial.params.end() ||
      !samplers::contains(dimension.distribution, found->second))
    return {};
  const std::string text = cell_text(parameter_of(result, record, dimension.name), short_number);
  return {text, trial_title(record, dimension.name + " = " + text),
          shade_of(dimension.distribution, found->second)};
}

}  // namespace

std::string history_figures(const StudyResult& result) {
  const std::vector<Objective> objectives = objectives_of(result);
  std::string out;
  for (std::size_t i = 0; i < objectives.size(); ++i)
    out += history_figure(result, objectives[i], i);
  if (out.empty()) return no_trials;
  return legend(html_key("feasible", "feasible") + html_key("infeasible", "misses a constraint") +
                html_key("best", "best so far") + html_key("lost", "failed or pruned") +
                (any_repeated(result) ? html_key("repeated", "repeats an earlier trial") : "")) +
         side_by_side(out);
}

std::string pareto_figures(const StudyResult& result) {
  const std::vector<Objective> objectives = objectives_of(result);
  if (objectives.size() < 2) return "";
  if (!any_complete(result)) return no_trials;
  const std::string keys =
      legend(html_key("feasible", "feasible") + html_key("infeasible", "misses a constraint") +
             html_key("best", "Pareto set") + html_key("baseline", "float model, where in sight"));
  std::string figures;
  const std::size_t count = std::min(objectives.size(), most_pair_objectives);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) figures += pair_figure(result, {objectives, b, a});
  return keys + side_by_side(figures);
}

std::string importance_figures(const StudyResult& result) {
  const std::vector<Objective> objectives = objectives_of(result);
  std::vector<samplers::Trial> trials;
  for (const Record& record : result.trials) trials.push_back(record.trial);
  std::string out;
  if (complete_count(result) < least_for_importance)
    return "<p>Importance is shown once " + std::to_string(least_for_importance) +
           " trials have completed.</p>\n";
  for (std::size_t i = 0; i < objectives.size(); ++i)
    out += importance_figure(result, trials, objectives[i], i);
  return out.empty() ? "<p>Too few completed trials to tell.</p>\n" : out;
}

std::string choices_figure(const StudyResult& result) {
  std::vector<std::size_t> leading = leading_trials(result);
  if (leading.empty()) return no_trials;
  const std::size_t total = leading.size();
  leading.resize(std::min(total, most_heat_rows));
  HeatMap map{"choices of the best trials", {}, {}, {}};
  for (const samplers::Dimension& dimension : result.problem.space)
    map.columns.push_back(dimension_label(dimension.name));
  for (const std::size_t index : leading) {
    const Record& record = result.trials[index];
    map.rows.push_back("trial " + std::to_string(record.trial.number));
    std::vector<HeatCell>& cells = map.cells.emplace_back();
    for (const samplers::Dimension& dimension : result.problem.space)
      cells.push_back(heat_cell(result, record, dimension));
  }
  const std::string shown = total > leading.size() ? "the first " + std::to_string(leading.size()) +
                                                         " of " + std::to_string(total) + " trials"
                                                   : "one row per trial";
  return html_figure("Light: smallest choice, dark: largest; " + shown, heat_map(map));
}

}  // namespace mase::search
