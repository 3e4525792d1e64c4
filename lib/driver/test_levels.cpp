// SPDX-License-Identifier: Apache-2.0
// Makes the evaluator of each level, and shows progress.
#include "driver/test_levels.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/hardware.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/shared_runs.hpp"
#include "search/own_metrics/metric_rows.hpp"

namespace mase::driver {
namespace {

std::unique_ptr<ir::Evaluator> evaluator_of(const Session& session, const TestRequest& request,
                                            const ir::Graph& graph, ir::Level level) {
  if (level != ir::Level::rtl) return shared_evaluator(session, graph, level);
  return make_rtl_evaluator(
      open_hardware(hardware_folder(session.settings(), request.hardware), graph));
}

EvaluateOptions batches_of(const Session& session, const TestRequest& request) {
  EvaluateOptions options;
  options.batch_size = session.settings().train.batch_size;
  options.max_batches = session.max_batches();
  options.max_rows = request.rows;
  return options;
}

/// Whether the share of right predictions is at least `required` percent; an error in the log says
/// where it is not.
bool is_accurate(const LevelFound& found, double required) {
  const double accuracy = found.figures.at("accuracy").as_double();
  if (100 * accuracy >= required) return true;
  log::error("accuracy " + fixed_text(100 * accuracy, 2) + " % (" + found.level +
             ") is below the required " + fixed_text(required, 2) + " %");
  return false;
}

}  // namespace

bool has_formats(const ir::Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(),
                     [&](ir::NodeId id) { return !graph.node(id).formats.empty(); });
}

std::unique_ptr<ir::Evaluator> shared_evaluator(const Session& session, const ir::Graph& graph,
                                                ir::Level level) {
  auto evaluator = make_evaluator()(graph, level);
  return session.companions ? share_runs(std::move(evaluator), session.companions)
                            : std::move(evaluator);
}

int help_to_test(const Session& session, const TestRequest& request, const ir::Graph& graph,
                 const data::Dataset& dataset) {
  std::unique_ptr<ir::Evaluator> reference;
  if (!dataset.has_labels()) reference = shared_evaluator(session, graph, ir::Level::floating);
  for (const std::string& name : request.levels) {
    const auto evaluator = shared_evaluator(session, graph, parse_level(name));
    std::vector<ir::Evaluator*> both{evaluator.get()};
    if (reference) both.insert(both.begin(), reference.get());
    run_batches(both, dataset, data::parse_part(request.split), batches_of(session, request));
  }
  return 0;
}

std::vector<LevelFound> for_each_level(const Session& session, const TestRequest& request,
                                       const ir::Graph& graph, const MeasureLevel& measure) {
  const data::Part part = data::parse_part(request.split);
  std::vector<ir::Level> levels;
  for (const std::string& name : request.levels) levels.push_back(parse_level(name));
  if (std::ranges::count(levels, ir::Level::rtl) > 0)
    check_external(graph, session.configuration, request);
  const auto programs = metric_programs(session.configuration);
  search::check_programs(programs, require_dataset(session));
  std::vector<LevelFound> found;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string level = has_formats(graph) ? request.levels[i] : "float";
    ProgressLine line(!request.quiet && !request.json);
    EvaluateOptions options = batches_of(session, request);
    options.progress = [&](std::int64_t rows, std::int64_t of) {
      line.show(level + ": " + std::to_string(rows) + "/" + std::to_string(of) + " rows");
    };
    const auto evaluator = evaluator_of(session, request, graph, levels[i]);
    LevelFound& one = found.emplace_back(LevelFound{request.levels[i], level});
    const auto run = [&](ir::Evaluator& recorded, const EvaluateOptions& recording) {
      one.figures = measure(level, recorded, part, recording);
    };
    one.own = measure_with_programs(programs, *session.dataset, part, options, *evaluator, run);
    add_sums(session.configuration.metrics, one);
    if (i == 0) name_missing_sums(session.configuration.metrics, one);
  }
  return found;
}

int finish_test(Session& session, const TestRequest& request, const std::vector<LevelFound>& found,
                const std::vector<TestBound>& bounds, bool met) {
  print_metrics(session.output, found);
  if (request.min_accuracy)
    for (const LevelFound& level : found) met = is_accurate(level, *request.min_accuracy) && met;
  met = keep_bounds(found, bounds) && met;
  session.output.record(
      project_folder(session.settings()),
      "test_" + request.split + "_" + (found.size() == 1 ? found.front().level : "levels"));
  session.output.finish();
  return met ? 0 : static_cast<int>(Fault::goal);
}

}  // namespace mase::driver
