// SPDX-License-Identifier: Apache-2.0
// What every pass owes the models it runs on: results within its stated bound, a graph that
// survives its text form, and, for cleaning passes, nothing left to do the second time.
#include <cmath>

#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/runner.hpp"
#include "support/temporary_folder.hpp"
#include "torch/fixtures.hpp"

namespace mase::test {
namespace {

/// Runs one pass with default options; the graph's history is taken back, so that graphs compare.
passes::Result run_pass(ir::Graph& graph, const std::string& name, const Fixture& fixture) {
  const ir::Graph original = graph;
  passes::PassContext context;
  context.original = &original;
  context.probe = fixture.inputs;
  context.probe_is_data = true;
  context.evaluator = [](const ir::Graph& g, ir::Level level) { return evaluator_of(g, level); };
  const TemporaryFolder folder;
  context.output_folder = folder.path();
  const passes::PassCall call{name, Tree::dict(), {}};
  auto reports = passes::run_passes(graph, {call}, driver::all_passes(), context, {});
  graph.history = original.history;
  return std::move(reports.front().result);
}

/// Passes that keep results within a bound and need nothing beside the graph and the probe.
std::vector<passes::PassDoc> bounded_passes() {
  std::vector<passes::PassDoc> docs;
  for (const passes::PassRow& row : driver::all_passes())
    if (std::isfinite(row.doc.tolerance) && row.doc.kind != passes::PassKind::interface &&
        row.doc.name != "add_hardware_metadata")
      docs.push_back(row.doc);
  return docs;
}

}  // namespace

TEST_CASE("every pass keeps the results of every model within its declared bound") {
  REQUIRE(bounded_passes().size() >= 10);
  for (const Fixture& fixture : fixtures()) {
    const ir::Graph original = import_fixture(fixture);
    const ir::Results before = evaluator_of(original)->run(fixture.inputs);
    for (const passes::PassDoc& doc : bounded_passes()) {
      INFO(fixture.path << ", " << doc.name);
      ir::Graph graph = original;
      run_pass(graph, std::string(doc.name), fixture);
      CHECK(ir::verify(graph).empty());
      const std::string text = ir::print(graph);
      CHECK(ir::print(ir::parse(text, "printed")) == text);
      if (ir::print(graph, {.metadata = false}) == ir::print(original, {.metadata = false}))
        continue;
      CHECK(largest_difference(evaluator_of(graph)->run(fixture.inputs), before) <= doc.tolerance);
    }
  }
}

TEST_CASE("a cleaning pass has nothing left to do the second time") {
  for (const Fixture& fixture : fixtures())
    for (const char* name : {"remove_dropout", "fold_constants", "fuse_batch_norm"}) {
      INFO(fixture.path << ", " << name);
      ir::Graph graph = import_fixture(fixture);
      run_pass(graph, name, fixture);
      const std::string once = ir::print(graph);
      CHECK_FALSE(run_pass(graph, name, fixture).changed);
      CHECK(ir::print(graph) == once);
    }
}

TEST_CASE("no dropout is left when it has been removed") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    ir::Graph graph = import_fixture(fixture);
    run_pass(graph, "remove_dropout", fixture);
    CHECK(run_pass(graph, "count_dropout", fixture).info.at("count").as_int() == 0);
  }
}

TEST_CASE("the dropout fixture has its four dropouts, as its fx table says") {
  ir::Graph graph = import_fixture(fixture("dropout_mlp", "script"));
  CHECK(run_pass(graph, "count_dropout", fixture("dropout_mlp", "script"))
            .info.at("count")
            .as_int() == 4);
}

}  // namespace mase::test
