// SPDX-License-Identifier: Apache-2.0
// Makes the evaluator of each level, and shows progress.
#include "driver/test_levels.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/hardware.hpp"
#include "search/own_metrics/metric_rows.hpp"

namespace mase::driver {
namespace {

std::unique_ptr<ir::Evaluator> evaluator_of(const Session& session, const TestRequest& request,
                                            const ir::Graph& graph, ir::Level level) {
  if (level != ir::Level::rtl) return make_evaluator()(graph, level);
  return make_rtl_evaluator(
      open_hardware(hardware_folder(session.settings(), request.hardware), graph));
}

}  // namespace

bool has_formats(const ir::Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(),
                     [&](ir::NodeId id) { return !graph.node(id).formats.empty(); });
}

LevelMetrics for_each_level(const Session& session, const TestRequest& request,
                            const ir::Graph& graph, const MeasureLevel& measure) {
  const data::Part part = data::parse_part(request.split);
  std::vector<ir::Level> levels;
  for (const std::string& name : request.levels) levels.push_back(parse_level(name));
  if (std::ranges::count(levels, ir::Level::rtl) > 0)
    check_external(graph, session.configuration, request);
  const auto programs = metric_programs(session.configuration);
  search::check_programs(programs, require_dataset(session));
  LevelMetrics metrics;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string level = has_formats(graph) ? request.levels[i] : "float";
    ProgressLine line(!request.quiet && !request.json);
    EvaluateOptions options;
    options.batch_size = session.settings().train.batch_size;
    options.max_batches = session.max_batches();
    options.max_rows = request.rows;
    options.progress = [&](std::int64_t rows, std::int64_t of) {
      line.show(level + ": " + std::to_string(rows) + "/" + std::to_string(of) + " rows");
    };
    const auto evaluator = evaluator_of(session, request, graph, levels[i]);
    const auto run = [&](ir::Evaluator& recorded, const EvaluateOptions& recording) {
      measure(level, recorded, part, recording);
    };
    metrics.emplace_back(
        level, measure_with_programs(programs, *session.dataset, part, options, *evaluator, run));
  }
  return metrics;
}

bool is_accurate(const std::string& level, double accuracy, double required) {
  if (100 * accuracy >= required) return true;
  log::error("accuracy " + fixed_text(100 * accuracy, 2) + " % (" + level +
             ") is below the required " + fixed_text(required, 2) + " %");
  return false;
}

void record_test(const Session& session, const TestRequest& request, const std::string& level) {
  session.output.record(project_folder(session.settings()), "test_" + request.split + "_" + level);
}

}  // namespace mase::driver
