// SPDX-License-Identifier: Apache-2.0
// What every pass gets from the framework: strict options, verification, timing, numerics,
// atomicity.
#include <catch2/catch.hpp>

#include "base/text.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "passes/runner.hpp"

namespace mase {
namespace {

bool refuses(const passes::PassRow& row, const std::string& key, Tree value) {
  Tree options = Tree::dict();
  options[key] = std::move(value);
  Diagnostics diagnostics;
  row.check(options, diagnostics);
  return diagnostics.has_errors();
}

ir::Graph small_graph() {
  return ir::parse(R"(graph "g" {
  module act : torch.nn.modules.activation.ReLU = aten::relu()
  %x : float32[2, 3] = placeholder x
  %act : float32[2, 3] = call_module act aten::relu(self=%x)
  %output : float32[2, 3] = output output(value=%act)
}
)",
                   "g");
}

// Breaks the graph it is given: the verifier must notice.
struct Vandal {
  static constexpr passes::PassDoc doc{"vandal", passes::PassKind::transform, "Break the graph."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static passes::Result run(ir::Graph& graph, const Options&, passes::PassContext&) {
    graph.modules.clear();
    return {};
  }
};

// Claims to change nothing, but hands out another result each time it is evaluated.
struct Quiet {
  static constexpr passes::PassDoc doc{"quiet", passes::PassKind::transform, "Do nothing."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static passes::Result run(ir::Graph&, const Options&, passes::PassContext&) { return {}; }
};

// Leaves a number, and tells which one an earlier call has left.
struct Counting {
  static constexpr passes::PassDoc doc{"counting", passes::PassKind::analysis, "Count calls."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static passes::Result run(ir::Graph&, const Options&, passes::PassContext& context) {
    passes::Result result;
    const int* before = context.derived.find<int>();
    result.info["before"] = before ? *before : 0;
    context.derived.keep(result.info.at("before").as_int() == 0 ? 1 : 2);
    return result;
  }
};

struct Drifting : ir::Evaluator {
  explicit Drifting(float* value) : value_(value) {}
  ir::Results run(const std::vector<Array>&) override {
    *value_ += 0.25f;
    return {{"", Array::from(std::vector<float>{*value_}, {1})}};
  }
  ir::Results run(const std::vector<Array>& inputs, const ir::Observer&) override {
    return run(inputs);
  }
  float* value_;
};

}  // namespace

TEST_CASE("every pass refuses an unknown option") {
  for (const passes::PassRow& row : driver::all_passes()) {
    INFO(row.doc.name);
    CHECK(refuses(row, "no_such_option", Tree(1)));
  }
}

TEST_CASE("every option refuses a wrong type and values outside its bounds") {
  for (const passes::PassRow& row : driver::all_passes())
    for (const FieldInfo& field : row.fields) {
      INFO(row.doc.name << "." << field.name);
      CHECK(refuses(row, field.name, Tree::dict()));
      if (field.low) CHECK(refuses(row, field.name, Tree(*field.low - 1)));
      if (field.high) CHECK(refuses(row, field.name, Tree(*field.high + 1)));
      if (!field.choices.empty()) CHECK(refuses(row, field.name, Tree("no such choice")));
    }
}

TEST_CASE("a pass that breaks the graph is named and the caller's graph stays whole") {
  ir::Graph graph = small_graph();
  const std::string before = ir::print(graph);
  passes::PassContext context;
  const passes::PassTable table{passes::describe<Vandal>()};
  CHECK_THROWS_WITH(passes::run_passes(graph, {{"vandal", Tree::dict(), {}}}, table, context, {}),
                    Catch::Contains("pass 'vandal' left a broken graph") && Catch::Contains("act"));
  CHECK(ir::print(graph) == before);
}

TEST_CASE("verification after each pass can be switched off") {
  ir::Graph graph = small_graph();
  passes::PassContext context;
  passes::RunOptions options;
  options.verify_each = false;
  const passes::PassTable table{passes::describe<Vandal>()};
  CHECK_NOTHROW(passes::run_passes(graph, {{"vandal", Tree::dict(), {}}}, table, context, options));
}

TEST_CASE("the numerics check fails at the first pass that moves results further than declared") {
  ir::Graph graph = small_graph();
  float value = 0;
  passes::PassContext context;
  context.probe = {Array(DType::float32, {2, 3})};
  context.evaluator = [&](const ir::Graph&, ir::Level) {
    return std::make_unique<Drifting>(&value);
  };
  const passes::PassTable table{passes::describe<Quiet>()};
  passes::RunOptions options;
  options.check_numerics = 0.1;
  CHECK_THROWS_WITH(
      passes::run_passes(graph, {{"quiet", Tree::dict(), {}}}, table, context, options),
      Catch::Contains("pass 'quiet' changed the results by 0.25"));
  options.check_numerics = 0.3;
  const auto reports =
      passes::run_passes(graph, {{"quiet", Tree::dict(), {}}}, table, context, options);
  CHECK(reports.front().max_difference == 0.25);
}

TEST_CASE("values derived from a graph live until a transform or the end of the pipeline") {
  ir::Graph graph = small_graph();
  passes::PassContext context;
  const passes::PassTable table{passes::describe<Counting>(), passes::describe<Quiet>()};
  const passes::PassCall counting{"counting", Tree::dict(), {}}, quiet{"quiet", Tree::dict(), {}};
  const auto before = [&](const std::vector<passes::PassCall>& calls) {
    return passes::run_passes(graph, calls, table, context, {}).back().result.info.at("before");
  };
  CHECK(before({counting}).as_int() == 0);
  CHECK(before({counting, counting}).as_int() == 1);
  CHECK(before({counting, quiet, counting}).as_int() == 0);
}

TEST_CASE("an unknown pass is reported with its place and the nearest name") {
  Diagnostics diagnostics;
  passes::check_calls({{"quantise", Tree::dict(), {"x.toml", 3, 2}}}, driver::all_passes(),
                      diagnostics);
  CHECK(diagnostics.text() ==
        "x.toml:3:2: error: unknown pass 'quantise'; did you mean 'quantize'?");
}

TEST_CASE("output names cannot leave the output folder") {
  passes::PassContext context;
  context.output_folder = "out";
  CHECK(context.output_path("a/b.txt") == "out/a/b.txt");
  for (const char* name : {"/etc/passwd", "../x", "a/../../x", ""})
    CHECK_THROWS_AS(context.output_path(name), Error);
}

}  // namespace mase
