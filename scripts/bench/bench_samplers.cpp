// SPDX-License-Identifier: Apache-2.0
// Runs a sampler on a test problem with several seeds, and prints results and processor time per
// trial as JSON. With --check it prints
// the values of the problems at the comparison points.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/error.hpp"
#include "base/field.hpp"
#include "base/text.hpp"
#include "key_values.hpp"
#include "sampler_problems.hpp"
#include "search/samplers/pareto.hpp"
#include "search/samplers/sampler.hpp"

namespace {

using namespace mase;
using namespace mase::samplers;
using bench::BenchProblem;

struct Settings {
  std::string sampler = "tpe", problem = "branin";
  int seeds = 30;
  std::int64_t trials = 0;  // 0: the problem's budget
  int batch = 1, lag = 0;
  std::string options = "{}";
  static constexpr auto fields() {
    using S = Settings;
    return std::tuple{Field{"sampler", &S::sampler, "a row of the sampler table"},
                      Field{"problem", &S::problem, "a test problem"},
                      Field{"seeds", &S::seeds, "runs, with seeds 0, 1, ..."}.at_least(1),
                      Field{"trials", &S::trials, "trials of a run; 0: the budget"}.at_least(0),
                      Field{"batch", &S::batch, "trials suggested at once"}.at_least(1),
                      Field{"lag", &S::lag, "latest trials that are still running"}.at_least(0),
                      Field{"options", &S::options, "the sampler's, as JSON"}};
  }
};

std::vector<double> values_of(const BenchProblem& problem, const Params& params) {
  std::vector<double> point;
  for (const Dimension& dimension : problem.space) point.push_back(params.at(dimension.name));
  return problem.function(point);
}

double result_of(const BenchProblem& problem, const std::vector<Trial>& history) {
  if (problem.objectives > 1) {
    std::vector<Point> points;
    for (const Trial& trial : history) points.push_back(trial.values);
    return hypervolume(points, {1.1, 11.0});
  }
  double best = history.front().values.front();
  for (const Trial& trial : history) best = std::min(best, trial.values.front());
  return best - problem.optimum;
}

void finish(const BenchProblem& problem, std::span<Trial> trials) {
  for (Trial& trial : trials) {
    if (trial.state == TrialState::complete) continue;
    trial.values = values_of(problem, trial.params);
    trial.state = TrialState::complete;
  }
}

/// Suggestions in a batch see earlier batches as finished, and each other as running. With a lag,
/// each sees that many earlier trials as running, as with `lag + 1` equally fast workers.
double run(const BenchProblem& problem, Sampler& sampler, const Settings& settings) {
  std::vector<Trial> history;
  for (std::int64_t number = 0; number < settings.trials; ++number) {
    const auto known = static_cast<std::size_t>(std::max<std::int64_t>(number - settings.lag, 0));
    if (number % settings.batch == 0) finish(problem, std::span(history).first(known));
    Suggestion suggestion = sampler.suggest(history, number);
    Trial& trial = history.emplace_back();
    trial.number = number;
    trial.params = std::move(suggestion.params);
    trial.attributes = std::move(suggestion.attributes);
  }
  finish(problem, history);
  return result_of(problem, history);
}

const BenchProblem& find_problem(const std::string& name) {
  for (const BenchProblem& problem : bench::problems())
    if (problem.name == name) return problem;
  config_error("there is no problem " + quote(name));
}

Tree measure(Settings settings) {
  const BenchProblem& problem = find_problem(settings.problem);
  const SamplerRow* row = find_sampler(settings.sampler);
  if (row == nullptr) config_error("there is no sampler " + quote(settings.sampler));
  if (settings.trials == 0) settings.trials = problem.trials;
  const Tree options = parse_json(settings.options, "options");
  Diagnostics diagnostics;
  row->check(options, diagnostics);
  diagnostics.throw_if_errors();
  Tree report = write_fields(settings);
  for (int seed = 0; seed < settings.seeds; ++seed) {
    const auto sampler =
        row->make({problem.space, std::vector(problem.objectives, Direction::minimize),
                   static_cast<std::uint64_t>(seed)},
                  options);
    const std::clock_t begin = std::clock();
    report["results"].push_back(run(problem, *sampler, settings));
    const double spent = static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC;
    report["ms"].push_back(spent / static_cast<double>(settings.trials));
  }
  return report;
}

Tree check() {
  Tree report = Tree::dict();
  for (const BenchProblem& problem : bench::problems())
    for (int k = 0; k < 3; ++k)
      report[problem.name].push_back(Tree::list_of(problem.function(comparison_point(problem, k))));
  return report;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const bool checks = count == 2 && std::string_view(arguments[1]) == "--check";
    std::puts(to_json(checks ? check()
                             : measure(bench::read_key_values<Settings>(
                                   count, arguments, "bench_samplers --check | KEY=VALUE ...")),
                      -1)
                  .c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
