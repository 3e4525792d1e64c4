// SPDX-License-Identifier: Apache-2.0
// Opaque leaves: layers and functions of several operators that stay one node with a graph of their
// own.
#include "base/error.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "test_paths.hpp"
#include "torch/catch.hpp"
#include "torch/export/export_support.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"

using namespace mase;
using namespace mase::test;

namespace {

std::string leaves_file(const std::string& name) {
  return std::string(MASE_TEST_FOLDER) + "/fixtures/programs/" + name + ".pt";
}

std::vector<Array> leaves_example() {
  return {read_npy(std::string(MASE_TEST_FOLDER) + "/fixtures/programs/example.npy")};
}

ir::Graph import_leaves(const std::string& name, std::vector<std::string> modules,
                        std::vector<std::string> functions = {}) {
  backend::ImportOptions options;
  options.inputs = leaves_example();
  options.leaf_modules = std::move(modules);
  options.leaf_functions = std::move(functions);
  return libtorch::import_torchscript(leaves_file(name), options);
}

std::vector<std::string> names_of(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::NodeId id : graph.order()) names.push_back(graph.node(id).name);
  return names;
}

void check_leaves(const ir::Graph& graph, const std::string& file) {
  CHECK(ir::verify(graph).empty());
  CHECK(ir::print(ir::parse(ir::print(graph), "printed")) == ir::print(graph));
  CHECK(same(executed(graph, leaves_example()), called(file, leaves_example())));
  check_three_calls(graph, leaves_example());
}

}  // namespace

TEST_CASE("layers and functions of several operators are one node each", "[leaves]") {
  const ir::Graph graph = import_leaves("Leaves", {"make_programs.Mixed", "make_programs.Parted"},
                                        {"make_programs.smooth"});
  // As torch.fx with these leaves; what only the body reads is no node.
  CHECK(names_of(graph) == std::vector<std::string>{"x", "mixed", "mixed_1", "getitem", "size",
                                                    "parted", "getitem_1", "getitem_2", "smooth",
                                                    "getitem_3", "getitem_4", "output"});
  const ir::Node& leaf = *graph.find_node("mixed_1");
  CHECK(leaf.kind == ir::NodeKind::call_module);
  CHECK(leaf.op == ir::leaf_op);
  CHECK(graph.modules.at("mixed").tensors.size() == 3);
  CHECK(graph.find_node("smooth")->target == "make_programs.smooth");
  check_leaves(graph, leaves_file("Leaves"));
}

TEST_CASE("layers of traces are leaves, too", "[leaves]") {
  const ir::Graph graph = import_leaves("TracedLeaves", {"make_programs.Mixed"});
  CHECK(graph.modules.contains("mixed"));
  CHECK(graph.find_node("mixed_1")->op == ir::leaf_op);
  check_leaves(graph, leaves_file("TracedLeaves"));
}

TEST_CASE("leaves take other batch sizes", "[leaves]") {
  const ir::Graph graph = import_leaves("TracedLeaves", {"make_programs.Mixed"});
  CHECK(executed(graph, {Array(DType::float32, {5, 3, 4})})[1].second.shape() == Shape{5, 3, 4});
}

TEST_CASE("a leaf that changes its input is refused", "[leaves]") {
  CHECK_NOTHROW(import_leaves("ChangedInput", {}));
  CHECK_THROWS_WITH(import_leaves("ChangedInput", {"make_programs.Changing"}),
                    Catch::Contains("'changing' changes its input 'mul' in place"));
}

TEST_CASE("a body that does not fit its leaf is refused", "[leaves]") {
  const std::string head = "graph \"g\" {\n  %x : float32[2] = placeholder x\n";
  const std::string tail = "  %output = output output(value=%f)\n}\n";
  const auto text = [&](const std::string& given, const std::string& body) {
    return head + "  %f = call_function f mase::leaf(" + given + ")" + body + tail;
  };
  const std::string body =
      " body {\n  %a = placeholder a\n  %r = call_function torch.relu aten::relu(self=%a)\n"
      "  %output = output output(value=%r)\n  }\n";
  CHECK(ir::verify(ir::parse(text("x=%x", body), "t")).empty());
  CHECK(ir::verify(ir::parse(text("x=%x, y=%x", body), "t")) ==
        std::vector<std::string>{"leaf 'f': the body takes 1 inputs, the leaf has 2"});
  CHECK(ir::verify(ir::parse(text("x=%x", " body {\n  %a = placeholder a\n  }\n"), "t")) ==
        std::vector<std::string>{"leaf 'f': the body has no output"});
  CHECK(ir::verify(ir::parse(text("x=%x", "\n"), "t")) ==
        std::vector<std::string>{"node 'f' is a leaf without a body"});
  CHECK_THROWS_WITH(
      ir::parse(text("x=%x", " body {\n  %a = call_function f mase::leaf() body {\n  }\n  }\n"),
                "t"),
      Catch::Contains("a leaf stands inside of a leaf"));
}
