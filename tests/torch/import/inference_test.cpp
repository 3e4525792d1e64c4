// SPDX-License-Identifier: Apache-2.0
// Inference by rules against what LibTorch finds when it runs the same graphs: stored models and
// programs, built-in networks, and other batch sizes.
#include "ir/inference.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "ir/text.hpp"
#include "models/registry.hpp"
#include "torch/catch.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/programs.hpp"
#include "torch/run/observed_infos.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// Graphs by what they are called in messages.
using Graphs = std::vector<std::pair<std::string, ir::Graph>>;

Graphs stored_models() {
  Graphs graphs;
  for (const Fixture& model : fixtures()) graphs.emplace_back(model.path, import_fixture(model));
  for (const Fixture& program : quantizable_programs())
    graphs.emplace_back(program.path, import_fixture(program));
  return graphs;
}

/// The programs that can be imported with the example; the others test refusals.
Graphs small_programs() {
  Graphs graphs;
  for (const auto& entry : std::filesystem::directory_iterator(program_file(""))) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".pt" || name.starts_with("Quantizable")) continue;
    try {
      graphs.emplace_back(name, import_program(name));
    } catch (const Error&) {
      continue;
    }
  }
  return graphs;
}

Graphs built_in_networks() {
  Graphs graphs;
  for (const models::ModelRow& row : models::model_table())
    graphs.emplace_back(row.name, row.build(row.sample_shape, row.classes, 0));
  return graphs;
}

std::string lines_of(const std::string& name, const std::vector<std::string>& wrong) {
  std::string text;
  for (const std::string& line : wrong) text += name + ": " + line + "\n";
  return text;
}

/// What is wrong in all of the graphs; empty if nothing is.
std::string faults(const Graphs& graphs) {
  std::string text;
  for (const auto& [name, graph] : graphs) text += lines_of(name, wrong_infos(graph));
  return text;
}

}  // namespace

TEST_CASE("inference finds what LibTorch found in stored models", "[inference]") {
  CHECK(faults(stored_models()) == "");
}

TEST_CASE("inference finds what LibTorch found in small programs", "[inference]") {
  const Graphs graphs = small_programs();
  CHECK(graphs.size() >= 40);
  CHECK(faults(graphs) == "");
}

TEST_CASE("inference finds what LibTorch finds in built-in networks", "[inference]") {
  Graphs graphs = built_in_networks();
  for (auto& [name, graph] : graphs) observe_infos(graph);
  CHECK(faults(graphs) == "");
}

TEST_CASE("inference finds what LibTorch finds for another number of rows", "[inference]") {
  Graphs graphs = stored_models(), others;
  for (auto& [name, graph] : graphs) {
    for (const ir::NodeId id : graph.placeholders())
      if (ir::ValueInfo& info = graph.node(id).info; !info.shape.empty()) info.shape[0] += 2;
    try {
      observe_infos(graph);
    } catch (const Error&) {
      continue;  // it is for one number of rows
    }
    others.emplace_back(name, std::move(graph));
  }
  CHECK(others.size() >= 30);
  CHECK(faults(others) == "");
}
