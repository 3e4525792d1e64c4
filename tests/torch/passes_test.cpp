// What every pass owes the models it runs on: results within its stated bound, a graph that
// survives its text form, and, for cleaning passes, nothing left to do the second time.
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

/// Passes that keep results exactly and need nothing beside the graph and the probe.
std::vector<std::string> exact_passes() {
  std::vector<std::string> names;
  for (const passes::PassRow& row : driver::all_passes())
    if (row.doc.tolerance == 0 && row.doc.name != "save_graph") names.emplace_back(row.doc.name);
  return names;
}

}  // namespace

TEST_CASE("every pass that declares exactness keeps the bits of every model") {
  REQUIRE(exact_passes().size() >= 10);
  for (const Fixture& fixture : fixtures()) {
    const ir::Graph original = import_fixture(fixture);
    const ir::Results before = evaluator_of(original)->run(fixture.inputs);
    for (const std::string& name : exact_passes()) {
      INFO(fixture.path << ", " << name);
      ir::Graph graph = original;
      run_pass(graph, name, fixture);
      CHECK(ir::verify(graph).empty());
      const std::string text = ir::print(graph);
      CHECK(ir::print(ir::parse(text, "printed")) == text);
      if (ir::print(graph, {.metadata = false}) == ir::print(original, {.metadata = false}))
        continue;
      CHECK(largest_difference(evaluator_of(graph)->run(fixture.inputs), before) == 0);
    }
  }
}

TEST_CASE("removing dropout a second time changes nothing") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    ir::Graph graph = import_fixture(fixture);
    run_pass(graph, "remove_dropout", fixture);
    const std::string once = ir::print(graph);
    CHECK_FALSE(run_pass(graph, "remove_dropout", fixture).changed);
    CHECK(ir::print(graph) == once);
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
