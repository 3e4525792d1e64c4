// SPDX-License-Identifier: Apache-2.0
// Import of idioms that people write: methods of lists and dicts, objects, tensors of lists, cells
// in loops, parts of a file, other precisions.
#include "ir/op_table.hpp"
#include "passes/transform/fuse_batch_norm.hpp"
#include "torch/import/programs.hpp"

using namespace mase;
using namespace mase::test;

namespace {

std::vector<std::string> keys(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> ops_of(const ir::Graph& graph, const std::string& row) {
  std::vector<std::string> ops;
  for (const ir::NodeId id : graph.order())
    if (ir::classify(graph, graph.node(id)).op == row) ops.push_back(graph.node(id).op);
  return ops;
}

}  // namespace

TEST_CASE("methods of lists and dicts change every name of the container") {
  check_program("ContainerMethods", keys(17));
}

TEST_CASE("a list that the model owns is not changed, since the change would be lost") {
  CHECK(has(refusal("OwnList", Fault::unsupported), "its own list or dict 'seen' at"));
}

TEST_CASE("a recurrent layer before a linear one") { check_program("LastOfLstm", {""}); }

TEST_CASE("torch.tensor of nested lists, truth values and sizes") {
  check_program("NewTensors", keys(6));
  Array other(DType::float32, {5, 3, 4});  // sizes are read, not taken from the example
  const auto results = evaluator_of(import_program("NewTensors"))->run({other});
  CHECK(results[3].second.span<float>()[0] == 5.5f);
}

TEST_CASE("in-place operators that only change how a tensor is looked at") {
  check_program("Renamed", keys(6));
}

TEST_CASE("what is written through a view is seen in the whole, and the other way round") {
  check_program("Views", keys(5));
}

TEST_CASE("operators between the common ones have rows, and so have their twins in place") {
  check_program("MoreOps", keys(11));
  const ir::Graph graph = import_program("MoreOps");
  CHECK(ops_of(graph, "mT").size() == 3);
  for (const char* row : {"outer", "numpy_T"}) CHECK(ops_of(graph, row).size() == 1);
  for (const char* row : {"copy", "diff", "scatter", "bitwise_or"})
    CHECK(ops_of(graph, row).size() == 2);
  CHECK(ops_of(graph, "bitwise_and").size() == 3);
  for (const ir::NodeId id : graph.order())
    if (!graph.node(id).op.empty())
      CHECK(ir::plain_op(graph.node(id).op) == ir::base_op(graph.node(id).op));
}

TEST_CASE("tensors that start without values may be filled") { check_program("Empty", {""}); }

TEST_CASE("objects and no_grad dissolve") { check_program("Objects", {""}); }

TEST_CASE("a cell in a scripted loop is the layer in every round") {
  CHECK(ops_of(import_program("CellLoop"), "lstm_cell").size() == 3);
  const ir::Graph graph = import_program("CellLoop");
  for (const ir::NodeId id : graph.order())
    if (graph.node(id).op == "mase::lstm_cell")
      CHECK(graph.node(id).kind == ir::NodeKind::call_module);
  check_program("CellLoop", {""});
}

TEST_CASE("traced sizes of resampling are those of scripts") {
  check_program("TracedSampling", {"0", "1"});
  CHECK(ops_of(import_program("TracedSampling"), "upsample") ==
        std::vector<std::string>{"aten::upsample_nearest2d.vec", "aten::upsample_bilinear2d.vec"});
}

TEST_CASE("models of another precision become float32, and so do their inputs") {
  for (const auto& [name, dtype] : {std::pair{"Double", "float64"}, std::pair{"Half", "float16"},
                                    std::pair{"Brain", "bfloat16"}}) {
    for (const std::string traced : {"", "Traced"}) {
      INFO(traced << name);
      constexpr double other_processor = 1e-6;  // whose matrix products add in another order
      backend::ImportOptions options;
      options.inputs = {example()};
      const auto imported =
          libtorch::import_with_notes(program_file(traced + name + ".pt"), options);
      REQUIRE(imported.notes.size() == 1);
      CHECK(has(imported.notes[0], dtype));
      CHECK(imported.graph.tensors.at("steps").value.dtype() == DType::int64);
      const auto results = evaluator_of(imported.graph)->run({example()});
      CHECK(largest_difference(results, stored(name, {""})) < other_processor);
    }
  }
}

TEST_CASE("a part of a file is imported by its path") {
  backend::ImportOptions options;
  options.inputs = {Array(DType::float32, {3, 4})};
  options.submodule = "linear";
  const ir::Graph graph = import_program("Double", options);
  CHECK(graph.tensors.size() == 2);
  CHECK(graph.tensors.contains("weight"));
  CHECK(libtorch::read_signature(program_file("Double.pt"), "linear").inputs ==
        std::vector<std::string>{"input"});
  options.submodule = "liner";
  CHECK_THROWS_WITH(import_program("Double", options), Catch::Contains("did you mean 'linear'?"));
}

TEST_CASE("batch norms of a block that is called twice are fused into its convolution") {
  ir::Graph graph = import_program("SharedNorm");
  passes::PassContext context;
  const auto result = passes::FuseBatchNorm::run(graph, {}, context);
  CHECK(result.info.at("into_previous").size() == 2);
  CHECK(ops_of(graph, "batch_norm1d").empty());
  constexpr double rounding = 1e-5;  // of products with other factors
  CHECK(largest_difference(evaluator_of(graph)->run({example()}), stored("SharedNorm", {""})) <
        rounding);
}
