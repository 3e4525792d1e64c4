// SPDX-License-Identifier: Apache-2.0
// Import of small programs: branches, loops, subscripts, in-place operators, and what is refused.
#include "torch/catch.hpp"

#include "torch/import/programs.hpp"
#include "torch/import/text.hpp"

using namespace mase;
using namespace mase::test;

namespace {

int count(const ir::Graph& graph, const std::string& op) {
  int found = 0;
  for (const ir::NodeId id : graph.order()) found += graph.node(id).op == op ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("a branch on a shape is taken and guarded") {
  const ir::Graph graph = import_program("ShapeBranch");
  CHECK(count(graph, "aten::mul.Tensor") + count(graph, "aten::mul.Scalar") == 1);
  REQUIRE(graph.guards.size() == 1);
  CHECK(has(graph.guards[0].place, "make_programs.py:"));
  CHECK(graph.guards[0].condition == "eq(size(x, 1), 3) is true");
  check_program("ShapeBranch", {""});

  // The other batch size is fine, the other tested dimension is not.
  const auto evaluator = evaluator_of(graph);
  CHECK(evaluator->run({Array(DType::float32, {5, 3, 4})})[0].second.shape() == Shape{5, 3, 4});
  CHECK_THROWS_WITH(evaluator->run({Array(DType::float32, {2, 7, 4})}),
                    Catch::Contains("eq(size(x, 1), 3)"));
}

TEST_CASE("loops with known counts are unrolled") {
  const ir::Graph graph = import_program("Loops");
  CHECK(count(graph, "aten::add.Scalar") == 3);
  CHECK(count(graph, "aten::mul.Scalar") == 2);
  check_program("Loops", {""});
}

TEST_CASE("subscripts become one getitem each") {
  const ir::Graph graph = import_program("Subscripts");
  CHECK(count(graph, "aten::slice.Tensor") == 0);
  CHECK(count(graph, "aten::select.int") == 0);
  const ir::Value index = *graph.find_node("getitem")->find("index");
  CHECK(index == ir::Value::tuple({ir::Value::slice({}, {}, {}), ir::Value::slice(1, 3, {})}));
  check_program("Subscripts", {"0", "1", "2", "3", "4", "5", "6"});
}

TEST_CASE("in-place operators are seen through every name of the tensor") {
  const ir::Graph graph = import_program("InPlace");
  CHECK(count(graph, "aten::add.Tensor") == 1);
  check_program("InPlace", {""});
  check_program("TwoOperators", {""});
}

TEST_CASE("what is written into a part of a tensor is seen in the whole, and in its other parts") {
  check_program("Parts", {"0", "1", "2", "3", "4", "5", "6"});
  check_program("ChangedConstant", {""});
}

TEST_CASE("a change that other tensors would see in an unknown way is refused") {
  CHECK(has(refusal("StaleConstant", Fault::unsupported), "was changed in place"));
}

TEST_CASE("lists and dicts dissolve") { check_program("Containers", {"first", "last"}); }

TEST_CASE("what stock PyTorch runs is imported with its bits") {
  check_program("Scalars", {""});
  check_program("NewDict", {"a", "b"});
  check_program("Chunks", {""});
  check_program("Recurrent", {""});
  check_program("FixedLengths", {""});
  check_program("OptionalResult", {"0"});
  check_program("TracedSizes", {""});
  check_program("TracedAttention", {""});
}

TEST_CASE("sizes of a trace are read where they are computed, not taken from the example") {
  const ir::Graph graph = import_program("TracedSizes");
  Array wide(DType::float32, {2, 3, 8});
  CHECK(evaluator_of(graph)->run({wide})[0].second.shape() == Shape{2, 6, 8});
}

TEST_CASE("a torch.nn layer of several operators is inlined") {
  const ir::Graph graph = import_program("TwoOperators");
  CHECK(graph.modules.contains("relu"));
  CHECK_FALSE(graph.modules.contains("drop"));
  CHECK(graph.containers.at("drop") == "torch.nn.modules.dropout.Dropout1d");
}

TEST_CASE("arguments have their defaults and can be fixed") {
  check_program("Options", {""});
  backend::ImportOptions options;
  options.concrete["scale"] = Tree(0.5);
  options.concrete["negate"] = Tree(true);
  const ir::Graph graph = import_program("Options", options);
  CHECK(graph.placeholders().size() == 1);
  const Array result = evaluator_of(graph)->run({example()})[0].second;
  CHECK(result.span<float>()[0] == 0.5f);  // -(-1 * 0.5)
  options.concrete["nothing"] = Tree(1);
  CHECK_THROWS_WITH(import_program("Options", options), Catch::Contains("'nothing'"));
}

TEST_CASE("programs that are no fixed graph are refused with the reason and the place") {
  CHECK(has(refusal("Random", Fault::unsupported), "aten::rand_like"));
  CHECK(has(refusal("Unfilled", Fault::unsupported), "has no values, but the result depends"));
  CHECK(has(refusal("Endless", Fault::unsupported), "may not end"));
  CHECK(has(refusal("ReadsValue", Fault::unsupported), "read out of a tensor"));
  CHECK(has(refusal("ListArgument", Fault::unsupported), "'xs' is a List[Tensor]"));
  const std::string raised = refusal("Raises", Fault::file);
  CHECK(has(raised, "two dimensions wanted"));
  CHECK(has(raised, "make_programs.py:"));
}

TEST_CASE("results within results have the names of both") {
  const ir::Results results = evaluator_of(import_program("Nested"))->run({example()});
  REQUIRE(results.size() == 3);
  const char* names[] = {"0", "1.0", "1.1"};
  for (std::size_t i = 0; i < 3; ++i) CHECK(results[i].first == names[i]);
  CHECK(results[1].second.same_bits(example()));
  CHECK(results[2].second.span<float>()[3] == 2 * example().span<float>()[3]);
}

TEST_CASE("a trace's Python stack names the function, wherever PyTorch is installed") {
  for (const char* folder : {"", "/usr/lib/python3/site-packages/"}) {
    const std::string stack =
        std::string(folder) + "torch/nn/functional.py(1771): relu\nnet.py(4): forward\n";
    CHECK(libtorch::spelling_of("aten::relu", {"functional.py:1771", stack}).target ==
          "torch.nn.functional.relu");
    CHECK(libtorch::spelling_of("aten::abs", {"", stack}).target == "torch.nn.functional.relu");
  }
  const std::string other = "my_torch/nn/functional.py(3): mine\n";
  CHECK(libtorch::spelling_of("aten::add", {"", other}).target == "_operator.add");
}
