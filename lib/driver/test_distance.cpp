// SPDX-License-Identifier: Apache-2.0
// `mase test` without labels compares the outputs at each level with those in float.
#include <cmath>

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

/// The numbers of one output by name; equal outputs have an infinite SQNR.
using DistanceFigures = std::vector<std::pair<std::string, double>>;

DistanceFigures numbers_of(const data::Distance& distance) {
  return {{"sqnr_db", distance.sqnr_db()},
          {"cosine", distance.cosine()},
          {"rms", distance.rms()},
          {"worst", distance.worst}};
}

/// The figures of all outputs, with the name of the output if there are several.
Tree figures_tree(const Distances& distances) {
  Tree tree = Tree::dict();
  const bool only = distances.outputs.size() == 1;
  for (const auto& [output, distance] : distances.outputs)
    for (const auto& [name, value] : numbers_of(distance))
      tree[only ? name : output + "." + name] = value;
  return tree;
}

std::vector<LevelFound> distances_of(const Session& session, const TestRequest& request,
                                     const ir::Graph& graph, const data::Dataset& dataset,
                                     std::vector<FoundDistances>& found) {
  const auto reference = shared_evaluator(session, graph, ir::Level::floating);
  return for_each_level(
      session, request, graph,
      [&](const std::string& level, ir::Evaluator& evaluator, data::Part part,
          const EvaluateOptions& options) {
        found.push_back({level, compare_outputs(*reference, evaluator, dataset, part, options)});
        return figures_tree(found.back().distances);
      });
}

Tree distance_tree(const data::Distance& distance) {
  Tree out = Tree::dict();
  out["elements"] = distance.elements;
  for (const auto& [name, value] : numbers_of(distance))
    out[name] = std::isfinite(value) ? Tree(value) : Tree();
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

std::vector<std::string> distance_figures() {
  std::vector<std::string> names;
  for (const auto& [name, value] : numbers_of({})) names.push_back(name);
  return names;
}

int test_distance(Session& session, const TestRequest& request, const ir::Graph& graph,
                  const data::Dataset& dataset, const std::vector<TestBound>& bounds) {
  if (!has_formats(graph))
    log::warning("the model has no formats, so it is compared with itself; `mase transform` " +
                 std::string("writes a quantized checkpoint"));
  std::vector<FoundDistances> found;
  const std::vector<LevelFound> levels = distances_of(session, request, graph, dataset, found);
  session.output.document()["split"] = request.split;
  print_distances(session.output, found);
  const bool near = !request.min_sqnr || has_sqnr(found, *request.min_sqnr);
  return finish_test(session, request, levels, bounds, near);
}

}  // namespace mase::driver
