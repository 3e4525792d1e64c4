// SPDX-License-Identifier: Apache-2.0
// `mase test` without labels compares the outputs at each level with those in float.
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/test_levels.hpp"

namespace mase::driver {
namespace {

/// The distance of every output at one level from the float model.
struct FoundDistances {
  std::string level;
  Distances distances;
};

std::vector<FoundDistances> distances_of(const Session& session, const TestRequest& request,
                                         const ir::Graph& graph, const data::Dataset& dataset,
                                         LevelMetrics& own) {
  const auto reference = make_evaluator()(graph, ir::Level::floating);
  std::vector<FoundDistances> found;
  own = for_each_level(
      session, request, graph,
      [&](const std::string& level, ir::Evaluator& evaluator, data::Part part,
          const EvaluateOptions& options) {
        found.push_back({level, compare_outputs(*reference, evaluator, dataset, part, options)});
      });
  return found;
}

Tree distance_tree(const data::Distance& distance) {
  Tree out = Tree::dict();
  out["elements"] = distance.elements;
  out["sqnr_db"] = distance.noise > 0 ? Tree(distance.sqnr_db()) : Tree();
  out["cosine"] = distance.cosine();
  out["rms"] = distance.rms();
  out["worst"] = distance.worst;
  return out;
}

void print_distances(Output& output, const std::vector<FoundDistances>& found) {
  passes::ReportTable table{
      "Distance from the float model",
      {"Level", "Output", "Rows", "SQNR, dB", "Cosine", "RMS error", "Worst error"},
      {},
      ""};
  for (const auto& [level, distances] : found) {
    Tree& entry = output.document()["levels"][level];
    entry["rows"] = distances.rows;
    for (const auto& [name, distance] : distances.outputs) {
      table.rows.push_back({level, name, std::to_string(distances.rows),
                            distance.noise > 0 ? fixed_text(distance.sqnr_db(), 2) : "equal",
                            fixed_text(distance.cosine(), 6), fixed_text(distance.rms(), 6),
                            fixed_text(distance.worst, 6)});
      entry["outputs"][name] = distance_tree(distance);
    }
  }
  output.table(table);
}

/// Whether every output has the required SQNR; an error in the log names each that has not.
bool has_sqnr(const std::vector<FoundDistances>& found, double required) {
  bool met = true;
  for (const auto& [level, distances] : found)
    for (const auto& [name, distance] : distances.outputs) {
      if (distance.sqnr_db() >= required) continue;
      met = false;
      log::error("SQNR " + fixed_text(distance.sqnr_db(), 2) + " dB of output '" + name + "' (" +
                 level + ") is below the required " + fixed_text(required, 2) + " dB");
    }
  return met;
}

}  // namespace

int test_distance(Session& session, const TestRequest& request, const ir::Graph& graph,
                  const data::Dataset& dataset) {
  if (!has_formats(graph))
    log::warning("the model has no formats, so it is compared with itself; `mase transform` " +
                 std::string("writes a quantized checkpoint"));
  LevelMetrics own;
  const std::vector<FoundDistances> found = distances_of(session, request, graph, dataset, own);
  session.output.document()["split"] = request.split;
  print_distances(session.output, found);
  print_metrics(session.output, own);
  const bool near = !request.min_sqnr || has_sqnr(found, *request.min_sqnr);
  const bool met = keep_bounds(own, metric_bounds(request.require, session.configuration)) && near;
  record_test(session, request, found.size() == 1 ? found.front().level : "levels");
  session.output.finish();
  return met ? 0 : static_cast<int>(Fault::goal);
}

}  // namespace mase::driver
